/**
 * Whether every path a template can become lies under one of some prefixes. Prefixes match whole segments; a trailing `*` matches inside
 * the last one. A segment from `resolve` or a source is looked at once for each label, and one label fixes all members of its table.
 */
import type { Slot, Template } from './compiled.ts';

export type Allowed = readonly string[];
/** The label chosen for an argument; ` source` for the source being walked. */
export type Labels = Readonly<Record<string, string>>;

export interface Tables {
  labels(argument: string): readonly string[];
  value(argument: string, label: string, member: string): string | undefined;
  constant(name: string): string | undefined;
  /** The values of a text argument with an enum. */
  enumOf(argument: string): readonly string[] | undefined;
}

/** More label combinations than this are not looked through; the path then counts as not covered. */
const COMBINATIONS_MAX = 20_000;

/** A path that leaves all prefixes, for the message, or nothing when every path stays inside. */
export function coversPath(segments: readonly Template[], prefixes: readonly string[], tables: Tables, labels: Labels): string | undefined {
  const cover = new Cover(segments, tables);
  return cover.escape(0, prefixes.map(parsePrefix), labels, '');
}

interface Prefix {
  readonly segments: readonly string[];
  readonly open: boolean;
}

function parsePrefix(text: string): Prefix {
  const open = text.endsWith('*');
  const body = open ? text.slice(0, -1) : text.replace(/\/$/, '');
  return { segments: body.split('/').slice(1), open };
}

class Cover {
  readonly #segments: readonly Template[];
  readonly #tables: Tables;
  #left = COMBINATIONS_MAX;

  constructor(segments: readonly Template[], tables: Tables) {
    this.#segments = segments;
    this.#tables = tables;
  }

  escape(index: number, prefixes: readonly Prefix[], labels: Labels, path: string): string | undefined {
    this.#left -= 1;
    if (prefixes.some((prefix) => prefix.segments.length === index)) return undefined;
    const segment = this.#segments[index];
    if (segment === undefined || prefixes.length === 0 || this.#left < 0) return path === '' ? '/' : path;
    for (const choice of this.#choices(segment, labels)) {
      const fitting = prefixes.filter((prefix) => fits(prefix, index, choice.text));
      const escaped = this.escape(index + 1, fitting, choice.labels, `${path}/${choice.text ?? choice.shown}`);
      if (escaped !== undefined) return escaped;
    }
    return undefined;
  }

  /** `text` is absent where anything may stand. */
  #choices(segment: Template, labels: Labels): readonly { readonly text?: string; readonly shown?: string; readonly labels: Labels }[] {
    const [part] = segment;
    if (part === undefined || typeof part === 'string') return [{ text: part ?? '', labels }];
    if (part.root === 'constants') return [this.#known(this.#tables.constant(part.path[0] ?? ''), part, labels)];
    if (part.root === 'args') return this.#argument(part, labels);
    if (part.root !== 'resolve' && part.root !== 'source') return [{ shown: part.text, labels }];
    const argument = part.root === 'source' ? ' source' : (part.path[0] ?? '');
    const member = part.path.at(-1) ?? '';
    const chosen = labelOf(labels, argument);
    const each = chosen === undefined ? this.#tables.labels(argument) : [chosen];
    return each.map((label) => this.#known(this.#tables.value(argument, label, member), part, { ...labels, [argument]: label }));
  }

  #argument(slot: Slot, labels: Labels): readonly { readonly text?: string; readonly shown?: string; readonly labels: Labels }[] {
    const [argument = ''] = slot.path;
    const values = slot.path.length === 1 && slot.spread === undefined ? this.#tables.enumOf(argument) : undefined;
    if (values === undefined) return [{ shown: slot.text, labels }];
    const chosen = labelOf(labels, argument);
    return (chosen === undefined ? values : [chosen]).map((text) => ({ text, labels: { ...labels, [argument]: text } }));
  }

  #known(text: string | undefined, slot: Slot, labels: Labels): { text?: string; shown?: string; labels: Labels } {
    return text === undefined ? { shown: slot.text, labels } : { text, labels };
  }
}

/** Own members only: an argument may be called like a member every object has. */
function labelOf(labels: Labels, argument: string): string | undefined {
  return Object.hasOwn(labels, argument) ? labels[argument] : undefined;
}

function fits(prefix: Prefix, index: number, text: string | undefined): boolean {
  const wanted = prefix.segments[index];
  if (wanted === undefined) return true;
  const last = index === prefix.segments.length - 1;
  // `/a/*` takes any non-empty last segment, also an agent's.
  if (last && prefix.open && wanted === '') return true;
  if (text === undefined) return false;
  return last && prefix.open ? text.startsWith(wanted) : text === wanted;
}
