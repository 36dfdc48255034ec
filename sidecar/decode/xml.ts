/**
 * XML of a remote as a JSON value. No DOCTYPE at all, hence no entities but the five of XML, no external ones, no expansion;
 * depth, elements and attributes are bounded by the size of the body and `answerDepthMax`.
 *
 * The mapping: the document is an object with the root's name. An element with neither attributes nor child elements is its text;
 * any other is an object: `@name` for attributes, a member for each child's name (a list when it repeats), `#text` for text
 * beside them that is more than white space. Names stay as written, prefix included. Everything is text: XML has no numbers.
 * One or many: a name that occurs once is no list; `items` paths take both.
 */
import { SaxesParser } from 'saxes';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/contract/compiled.ts';

interface Element {
  readonly name: string;
  /** Null prototype: element names are foreign. */
  readonly members: Record<string, JsonValue>;
  hasMembers: boolean;
  text: string;
}

/** `undefined` when the text is not well-formed XML, holds a DOCTYPE, or nests too deep. */
export function decodeXml(text: string): JsonValue | undefined {
  const parser = new SaxesParser({ xmlns: false });
  const open: Element[] = [];
  const document = element('');
  const refuse = () => {
    throw new Refused();
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= limits.answerDepthMax) refuse();
    const opened = element(name);
    for (const [attribute, value] of Object.entries(attributes)) add(opened, `@${attribute}`, String(value));
    open.push(opened);
  });
  const onText = (chunk: string) => {
    const current = open.at(-1);
    if (current !== undefined) current.text += chunk;
  };
  parser.on('text', onText);
  parser.on('cdata', onText);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed !== undefined) add(open.at(-1) ?? document, closed.name, contentOf(closed));
  });
  try {
    parser.write(text).close();
  } catch {
    // The parser's message quotes the text; it must not travel.
    return undefined;
  }
  return document.members;
}

class Refused extends Error {}

function element(name: string): Element {
  return { name, members: Object.create(null), hasMembers: false, text: '' };
}

function add(parent: Element, name: string, value: JsonValue): void {
  parent.hasMembers = true;
  const before = parent.members[name];
  if (before === undefined) parent.members[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else parent.members[name] = [before, value];
}

function contentOf({ members, hasMembers, text }: Element): JsonValue {
  if (!hasMembers) return text;
  if (text.trim() !== '') members['#text'] = text;
  return members;
}
