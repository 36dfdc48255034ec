/**
 * Settings from the environment, by a table: name, type, default, sentence. Read once, all problems at once, frozen.
 * `process.env` is touched nowhere else.
 */

interface Common<Value> {
  /** Name of the variable. */
  readonly env: `POSTERN_${string}`;
  /** One sentence for the reference page; units are in the name. */
  readonly sentence: string;
  /** Absent: the setting is required. */
  readonly fallback?: Value;
}

export type Setting =
  | (Common<string> & { readonly type: 'text'; readonly pattern?: RegExp })
  | (Common<number> & { readonly type: 'integer'; readonly min: number; readonly max: number })
  | (Common<string> & { readonly type: 'choice'; readonly choices: readonly string[] })
  | (Common<boolean> & { readonly type: 'switch' });

type ValueOf<S extends Setting> = S extends { type: 'integer' }
  ? number
  : S extends { type: 'switch' }
    ? boolean
    : S extends { choices: readonly (infer C)[] }
      ? C
      : string;

export type Settings<Table extends Readonly<Record<string, Setting>>> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

export type ReadSettings<Table extends Readonly<Record<string, Setting>>> =
  | { readonly ok: true; readonly settings: Settings<Table> }
  /** One sentence each, without the value that was found: it may be a secret in the wrong place. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Unknown POSTERN_ variables are problems too: a misspelled setting is a setting that does not hold. */
export function readSettings<const Table extends Readonly<Record<string, Setting>>>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
): ReadSettings<Table> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(table)) {
    const text = env[setting.env];
    const read = text === undefined || text === '' ? absent(setting) : parse(setting, text);
    if (read.ok) values[name] = read.value;
    else problems.push(read.problem);
  }
  const known = new Set<string>(Object.values(table).map(({ env: name }) => name));
  for (const name of Object.keys(env).sort()) {
    if (name.startsWith('POSTERN_') && !known.has(name))
      problems.push(`${name} is not a setting; the settings are ${[...known].sort().join(', ')}.`);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, settings: Object.freeze(values) as Settings<Table> };
}

type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

function absent(setting: Setting): Read {
  return setting.fallback === undefined
    ? { ok: false, problem: `${setting.env} is required: ${setting.sentence}` }
    : { ok: true, value: setting.fallback };
}

function parse(setting: Setting, text: string): Read {
  switch (setting.type) {
    case 'text':
      return setting.pattern === undefined || setting.pattern.test(text)
        ? { ok: true, value: text }
        : bad(setting, `does not match ${setting.pattern.source}`);
    case 'integer': {
      const value = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return value >= setting.min && value <= setting.max
        ? { ok: true, value }
        : bad(setting, `is not a whole number from ${setting.min} to ${setting.max}`);
    }
    case 'choice':
      return setting.choices.includes(text) ? { ok: true, value: text } : bad(setting, `is not one of ${setting.choices.join(', ')}`);
    case 'switch':
      return text === 'true' || text === 'false' ? { ok: true, value: text === 'true' } : bad(setting, 'is neither true nor false');
  }
}

function bad(setting: Setting, what: string): Read {
  return { ok: false, problem: `${setting.env} ${what}: ${setting.sentence}` };
}
