/**
 * Warnings that are active: raised at least once in limits.warningActiveMs. By action, code and owner, because that is whom
 * an alert wakes; of several warnings alike, the earliest expiry and the greatest age are shown.
 */
import { endOfDay } from '#core/bounds/calendar-day.ts';
import { limits } from '#core/bounds/limits.ts';
import type { MetricName } from './metric-catalogue.ts';

export interface SeenWarning {
  readonly action: string;
  readonly code: string;
  readonly owner: string;
  /** Name in the contract; empty for a built-in one. */
  readonly name: string;
  /** Day, `YYYY-MM-DD`, or any time Date understands; absent: no expiry. */
  readonly expires?: string;
  /** Age of the stale data. */
  readonly staleMs?: number;
  /** Every call raises it. */
  readonly permanent: boolean;
}

type Labels = { readonly action: string; readonly code: string; readonly owner: string };
type Gauge = () => readonly (readonly [Labels, number])[];

interface Active {
  readonly warning: SeenWarning;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Times in wall-clock milliseconds. */
export interface ActiveWarning {
  readonly action: string;
  readonly code: string;
  readonly owner: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly expiresMs?: number;
}

export class WarningBoard {
  readonly #wallMs: () => number;
  readonly #active = new Map<string, Active>();

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  see(warning: SeenWarning): void {
    const now = this.#wallMs();
    const key = JSON.stringify([warning.action, warning.code, warning.owner, warning.name]);
    const before = this.#active.get(key);
    const lapsed = before === undefined || now - before.lastMs > limits.warningActiveMs;
    this.#active.set(key, { warning, firstMs: lapsed ? now : before.firstMs, lastMs: now });
  }

  /** One for each action, code and owner, sorted by them. */
  active(): readonly ActiveWarning[] {
    return [...this.#groups(this.#wallMs())]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([, group]) => {
        const [first] = group;
        if (first === undefined) return [];
        const { action, code, owner } = first.warning;
        const expires = earliest(group.map(({ warning }) => expiryMs(warning.expires)));
        return {
          action,
          code,
          owner,
          firstMs: Math.min(...group.map(({ firstMs }) => firstMs)),
          lastMs: Math.max(...group.map(({ lastMs }) => lastMs)),
          ...(expires === undefined ? {} : { expiresMs: expires * 1000 }),
        };
      });
  }

  /** By action, code and owner as JSON; lapsed warnings are forgotten. */
  #groups(now: number): Map<string, Active[]> {
    for (const [key, { lastMs }] of this.#active) if (now - lastMs > limits.warningActiveMs) this.#active.delete(key);
    return Map.groupBy(this.#active.values(), ({ warning: { action, code, owner } }) => JSON.stringify([action, code, owner]));
  }

  /** One reader per gauge; values of lapsed warnings are gone. */
  gauges(): Map<MetricName, Gauge> {
    const now = this.#wallMs();
    const groups = this.#groups(now);
    const over =
      (value: (group: readonly Active[]) => number | undefined): Gauge =>
      () =>
        [...groups.values()].flatMap((group): [Labels, number][] => {
          const [first] = group;
          const result = value(group);
          if (first === undefined || result === undefined) return [];
          const { action, code, owner } = first.warning;
          return [[{ action, code, owner }, result]];
        });
    return new Map<MetricName, Gauge>([
      ['warning_first_seen_seconds', over((group) => Math.min(...group.map(({ firstMs }) => firstMs)) / 1000)],
      ['warning_last_seen_seconds', over((group) => Math.max(...group.map(({ lastMs }) => lastMs)) / 1000)],
      ['warning_stale_age_seconds', over((group) => greatest(group.map((each) => staleAgeMs(each, now))))],
      ['warning_expiry_seconds', over((group) => earliest(group.map(({ warning }) => expiryMs(warning.expires))))],
      ['warning_permanent_state', over((group) => Number(group.some(({ warning }) => warning.permanent)))],
    ]);
  }
}

/** The data has grown older since it was seen. */
function staleAgeMs({ warning, lastMs }: Active, now: number): number | undefined {
  return warning.staleMs === undefined ? undefined : warning.staleMs + (now - lastMs);
}

function greatest(agesMs: readonly (number | undefined)[]): number | undefined {
  const known = agesMs.filter((age) => age !== undefined);
  return known.length === 0 ? undefined : Math.max(...known) / 1000;
}

function earliest(timesMs: readonly (number | undefined)[]): number | undefined {
  const known = timesMs.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known) / 1000;
}

function expiryMs(expires = ''): number | undefined {
  const parsed = endOfDay(expires) ?? Date.parse(expires);
  return Number.isNaN(parsed) ? undefined : parsed;
}
