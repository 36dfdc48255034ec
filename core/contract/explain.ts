/**
 * `contract explain`: the merged contract as lines of YAML, each with its origin. With a preset a third of a contract is elsewhere, and
 * nobody can review what they do not see (contract language, section 4.1).
 */
import { isList, isObject } from '#core/completeness/path.ts';
import { type CompileInput, compileContract } from './compile.ts';
import type { CompiledContract, JsonValue } from './compiled.ts';
import { type MergedSpec, mergedSpec, type Origin } from './merged-spec.ts';
import type { Problem } from './problem.ts';
import type { SpecPath } from './spec-path.ts';

export interface ExplainedLine {
  /** Indented YAML. */
  readonly text: string;
  readonly origin: Origin;
}

export interface Explanation {
  readonly name: string;
  readonly lines: readonly ExplainedLine[];
  /** Absent when the contract has errors; the merged lines are shown all the same. */
  readonly contract?: CompiledContract;
  readonly problems: readonly Problem[];
}

/** The order a reader looks for things in, not the order they were merged in. */
const ORDER: readonly string[] = [
  'action',
  'summary',
  'owner',
  'effect',
  'readOnlyBecause',
  'suspended',
  'callers',
  'credentials',
  'arguments',
  'resolve',
  'constants',
  'http',
  'ssh',
  'prepare',
  'result',
  'completeness',
  'forEach',
  'evidence',
  'recheck',
  'idempotency',
  'approval',
  'warnings',
];

export function explainContract(input: CompileInput): Explanation {
  const merged = mergedSpec(input.contract, input.presets);
  const compiled = compileContract(input);
  const names = Object.keys(merged.spec).toSorted((a, b) => rank(a) - rank(b));
  const lines = names.flatMap((name) => member(merged, ['spec', name], merged.spec[name] ?? null, 0));
  return {
    name: input.contract.name,
    lines,
    problems: compiled.problems,
    ...(compiled.contract === undefined ? {} : { contract: compiled.contract }),
  };
}

function rank(name: string): number {
  const index = ORDER.indexOf(name);
  return index < 0 ? ORDER.length : index;
}

/** Longest value written on the line of its name. */
const INLINE_CHARS = 100;

function member(merged: MergedSpec, path: SpecPath, value: JsonValue, depth: number): readonly ExplainedLine[] {
  const key = `${'  '.repeat(depth)}${keyText(path.at(-1))}`;
  const origin = merged.originOf(path);
  const inline = flow(value);
  if (isScalar(value) || isEmpty(value) || (inline.length <= INLINE_CHARS && hasOneOrigin(merged, path, value)))
    return [{ text: `${key} ${inline}`, origin }];
  return [{ text: key, origin }, ...children(merged, path, value, depth + 1)];
}

function children(merged: MergedSpec, path: SpecPath, value: JsonValue, depth: number): readonly ExplainedLine[] {
  if (isList(value)) return value.flatMap((item, index) => element(merged, [...path, index], item, depth));
  return isObject(value) ? Object.keys(value).flatMap((name) => member(merged, [...path, name], value[name] ?? null, depth)) : [];
}

function element(merged: MergedSpec, path: SpecPath, value: JsonValue, depth: number): readonly ExplainedLine[] {
  const dash = `${'  '.repeat(depth)}-`;
  const inline = flow(value);
  if (isScalar(value) || isEmpty(value) || hasOneOrigin(merged, path, value))
    return [{ text: `${dash} ${inline}`, origin: merged.originOf(path) }];
  const lines = children(merged, path, value, depth + 1);
  const [first, ...rest] = lines;
  return first === undefined ? [] : [{ ...first, text: `${dash} ${first.text.trimStart()}` }, ...rest];
}

function keyText(name: string | number | undefined): string {
  const text = String(name);
  return `${/^[A-Za-z][A-Za-z0-9_-]*$/.test(text) ? text : JSON.stringify(text)}:`;
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** Whether everything inside was written in the same place; else each part gets a line of its own. */
function hasOneOrigin(merged: MergedSpec, path: SpecPath, value: JsonValue): boolean {
  const here = nameOf(merged.originOf(path));
  const inside = (at: SpecPath, held: JsonValue): boolean => {
    if (nameOf(merged.originOf(at)) !== here) return false;
    if (isList(held)) return held.every((item, index) => inside([...at, index], item));
    return !isObject(held) || Object.keys(held).every((name) => inside([...at, name], held[name] ?? null));
  };
  return inside(path, value);
}

/** One line of YAML flow style. */
function flow(value: JsonValue): string {
  if (isList(value)) return `[${value.map(flow).join(', ')}]`;
  if (isObject(value))
    return `{${Object.keys(value)
      .map((name) => `${keyText(name)} ${flow(value[name] ?? null)}`)
      .join(', ')}}`;
  return typeof value === 'string' && isPlain(value) ? value : JSON.stringify(value);
}

/** Text that YAML reads as the same text without quotes, also inside of flow collections. */
function isPlain(text: string): boolean {
  return /^[A-Za-z/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*$/.test(text) && !/^(?:true|false|null|y|n|yes|no|on|off)$/i.test(text);
}

function nameOf(origin: Origin): string {
  return origin.kind === 'preset' ? `preset ${origin.name}` : origin.kind;
}

/** The lines with their origins in one column, `preset github-v1:15` with the line it is written in, and the facts that follow from them. */
export function renderExplanation({ name, lines, contract }: Explanation): string {
  const width = Math.min(COLUMN_MAX, Math.max(0, ...lines.map(({ text }) => text.length)));
  const body = lines.map(({ text, origin }) => `${text.padEnd(width)}  # ${placeOf(origin)}`);
  return [...headerOf(name, contract), ...filesOf(lines), ...body].join('\n');
}

/** Longer lines push their origin to the right instead of pushing every other one. */
const COLUMN_MAX = 90;

function headerOf(name: string, contract: CompiledContract | undefined): readonly string[] {
  if (contract === undefined) return [`# ${name}: has errors, so it does not compile`];
  const ready = contract.notReady === undefined ? 'ready' : `not ready: ${contract.notReady}`;
  const presets = contract.presets.map((preset) => `# preset ${preset.name} ${preset.digest}`);
  return [`# ${contract.action}: best answer ${contract.best}, ${ready}`, `# revision ${contract.revision}`, ...presets];
}

function filesOf(lines: readonly ExplainedLine[]): readonly string[] {
  const files = new Map<string, string>();
  for (const { origin } of lines) {
    if (origin.kind !== 'default' && origin.source !== undefined) files.set(nameOf(origin), origin.source.file);
  }
  return [...files].map(([name, file]) => `# ${name} is ${file}`);
}

function placeOf(origin: Origin): string {
  if (origin.kind === 'default') return 'default';
  return origin.source === undefined ? nameOf(origin) : `${nameOf(origin)}:${origin.source.lineAt(origin.path)}`;
}
