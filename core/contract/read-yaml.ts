/**
 * Objects out of a YAML file, as strictly as a reviewer reads it: YAML 1.2 core schema, several documents.
 *
 * Refused, because one text would stand in two places or mean two things: anchors, aliases, merge keys, tags,
 * duplicate and non-text keys, numbers that cannot be kept. `no`, `on` and their like stay text here; since kubectl reads YAML 1.1 and
 * makes booleans of them, they are shown (failure case JSON-24).
 * @see https://yaml.org/spec/1.2.2/#103-core-schema
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  type ParsedNode,
  parseAllDocuments,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { limits } from '#core/bounds/limits.ts';
import { API_VERSION } from '#core/resource/names.ts';
import type { JsonValue, Problem } from './compiled.ts';
import type { ProblemCode } from './problem-codes.ts';
import { readObject } from './read-object.ts';
import { Report } from './report.ts';
import type { ObjectSource, ResourceObject } from './resource-object.ts';
import type { SpecPath } from './spec-path.ts';

/**
 * Every object of one file; a document with an error gives problems and no object. Empty documents are skipped.
 * Problems carry `file` and `line`. Limits: limits.contractFileBytesMax, contractFileDepthMax, contractFileDocumentsMax.
 */
export function readYaml(
  text: string,
  file: string,
): { readonly objects: readonly ResourceObject[]; readonly problems: readonly Problem[] } {
  const lines = new LineCounter();
  const whole = new Report(() => ({ kind: 'File', name: file, path: [], source: { file, lineAt: () => 1 } }));
  if (Buffer.byteLength(text, 'utf8') > limits.contractFileBytesMax) {
    whole.add([], 'yaml-too-large', `The file has more than ${limits.contractFileBytesMax} bytes.`);
    return { objects: [], problems: whole.problems };
  }
  if (bracketDepth(text) > limits.contractFileBracketsMax) {
    whole.add([], 'yaml-too-large', `More than ${limits.contractFileBracketsMax} brackets are open at once.`);
    return { objects: [], problems: whole.problems };
  }
  const documents = parseAllDocuments(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    lineCounter: lines,
    prettyErrors: false,
  });
  const parsed = Array.isArray(documents) ? documents : [];
  if (parsed.length > limits.contractFileDocumentsMax) {
    whole.add([], 'yaml-too-large', `The file has more than ${limits.contractFileDocumentsMax} documents.`);
    return { objects: [], problems: whole.problems };
  }
  const objects: ResourceObject[] = [];
  const problems: Problem[] = [];
  for (const document of parsed) {
    const read = readDocument(document, file, lines);
    problems.push(...read.problems);
    if (read.object !== undefined) objects.push(read.object);
  }
  return { objects, problems };
}

type Parsed = Document.Parsed<ParsedNode>;

function readDocument(document: Parsed, file: string, lines: LineCounter): { object?: ResourceObject; problems: readonly Problem[] } {
  if (isEmpty(document) && document.errors.length === 0) return { problems: [] };
  const source: ObjectSource = { file, lineAt: (path) => lineOf(document, path, lines) };
  const report = new Report((path) => ({ ...nameOf(document, file), path, source }));
  for (const error of document.errors) {
    const here: ObjectSource = { file, lineAt: () => lines.linePos(error.pos[0]).line };
    const faults = new Report((path) => ({ ...nameOf(document, file), path, source: here }));
    faults.add([], ...faultOf(error, lines));
    return { problems: faults.problems };
  }
  if (isForeign(document, report)) return { problems: report.problems };
  const value = readNode(document.contents, [], report);
  if (report.failed) return { problems: report.problems };
  const object = readObject(value, source, report);
  return object === undefined ? { problems: report.problems } : { object, problems: report.problems };
}

/**
 * Says once that a document is somebody else's. In a directory of manifests, a hundred findings about a Deployment would hide the
 * one that is about a contract.
 */
function isForeign({ contents }: Parsed, report: Report): boolean {
  const apiVersion: unknown = isMap(contents) ? contents.get('apiVersion') : undefined;
  if (typeof apiVersion !== 'string' || apiVersion.startsWith(GROUP)) return false;
  report.add(['apiVersion'], 'object-shape', `apiVersion is ${JSON.stringify(apiVersion)}, so this is no object of Postern's.`, {
    cure: `Leave the file out, or begin with apiVersion: ${API_VERSION} and a kind.`,
  });
  return true;
}

const GROUP = API_VERSION.slice(0, API_VERSION.indexOf('/') + 1);

/** Nothing between two separators, or comments only. */
function isEmpty(document: Parsed): boolean {
  const { contents } = document;
  return contents === null || (isScalar(contents) && contents.value === null && contents.source === '');
}

/** Our own sentence for each class of fault; the library's text is not repeated. */
function faultOf(error: YAMLError, lines: LineCounter): [ProblemCode, string] {
  const { line, col } = lines.linePos(error.pos[0]);
  if (error.code === 'DUPLICATE_KEY') return ['yaml-duplicate-key', `A key stands twice in the map at line ${line}.`];
  if (error.code === 'TAG_RESOLVE_FAILED') return ['yaml-tag', `A tag at line ${line} is not of the core schema.`];
  if (error.code === 'BAD_ALIAS' || error.code === 'ALIAS_PROPS' || error.code === 'MULTIPLE_ANCHORS') {
    return ['yaml-anchor', `An anchor or alias stands at line ${line}.`];
  }
  return ['yaml-syntax', `The text stops being YAML at line ${line}, column ${col}.`];
}

function nameOf(document: Parsed, file: string): { kind: string; name: string } {
  const text = (path: string[]) => {
    const value = isMap(document.contents) ? document.contents.getIn(path) : undefined;
    return typeof value === 'string' && value.length <= 253 ? value : undefined;
  };
  const kind = text(['kind']);
  const name = text(['metadata', 'name']);
  return kind === undefined || name === undefined ? { kind: 'File', name: file } : { kind, name };
}

function readNode(node: ParsedNode | null, path: SpecPath, report: Report): JsonValue {
  if (node === null) return null;
  if (isAlias(node)) {
    report.add(path, 'yaml-anchor', 'An alias stands here.');
    return null;
  }
  if (node.anchor !== undefined) report.add(path, 'yaml-anchor', 'An anchor stands here.');
  // The parser sets `tag` only where one was written.
  if (node.tag !== undefined) report.add(path, 'yaml-tag', 'A tag stands here.');
  if (path.length > limits.contractFileDepthMax) {
    report.add([], 'yaml-too-large', `Values are nested deeper than ${limits.contractFileDepthMax}.`);
    return null;
  }
  if (isMap(node)) return mapOf(node, path, report);
  if (isSeq(node)) return node.items.map((item, index) => readNode(item as ParsedNode | null, [...path, index], report));
  return scalarOf(node, path, report);
}

function mapOf(node: YAMLMap.Parsed, path: SpecPath, report: Report): JsonValue {
  const object: Record<string, JsonValue> = Object.create(null);
  for (const pair of node.items as Pair<ParsedNode, ParsedNode | null>[]) {
    const { key } = pair;
    if (isScalar(key) && key.value === '<<' && key.type === 'PLAIN') {
      report.add(path, 'yaml-merge-key', 'A merge key stands here.');
      continue;
    }
    if (!isScalar(key) || typeof key.value !== 'string') {
      report.add(
        path,
        'yaml-key',
        `A key is ${isScalar(key) ? `the ${describe(key.value)} ${String(key.value)}` : 'not a scalar'}, not text.`,
      );
      continue;
    }
    if (key.anchor !== undefined) report.add(path, 'yaml-anchor', 'An anchor stands at a key.');
    if (key.value === '__proto__') {
      report.add(path, 'yaml-key', 'No object may have a member __proto__ (failure case JSON-03).');
      continue;
    }
    object[key.value] = readNode(pair.value, [...path, key.value], report);
  }
  return object;
}

const READS_DIFFERENTLY = /^(?:y|n|yes|no|on|off|0[0-7]+|0b[01_]+|[-+]?[0-9][0-9_]*_[0-9_]*|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/i;

function scalarOf(node: ParsedNode, path: SpecPath, report: Report): JsonValue {
  if (!isScalar(node)) return null;
  const { value } = node;
  if (node.type === 'PLAIN' && typeof node.source === 'string' && READS_DIFFERENTLY.test(node.source)) {
    report.add(
      path,
      'yaml-reads-differently',
      `${node.source} is the ${describe(value)} ${JSON.stringify(value)} here; YAML 1.1 readers see something else.`,
    );
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      report.add(path, 'yaml-number', 'The number cannot be kept exactly.');
      return null;
    }
    return value;
  }
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  report.add(path, 'yaml-tag', 'The value is none of text, number, boolean, null, list and map.');
  return null;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'string' ? 'text' : typeof value;
}

/**
 * The parser is recursive, so depth is bounded before it sees the text. This only has to be an upper bound far below the stack:
 * brackets inside of text are counted as well.
 */
function bracketDepth(text: string): number {
  let open = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/^---|^ *(?:- )*|[[{}\]]/gm)) {
    if (token === '---') open = 0;
    else if (token === '[' || token === '{') open += 1;
    else if (token === ']' || token === '}') open = Math.max(0, open - 1);
    deepest = Math.max(deepest, open, token.length / 2);
  }
  return deepest;
}

function lineOf(document: Parsed, path: SpecPath, lines: LineCounter): number {
  let node: ParsedNode | null = document.contents;
  let offset = node?.range[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair: Pair<ParsedNode, ParsedNode | null> | undefined = (node.items as Pair<ParsedNode, ParsedNode | null>[]).find(
        (each) => isScalar(each.key) && each.key.value === step,
      );
      if (pair === undefined) break;
      offset = pair.key.range[0];
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      const item: ParsedNode | undefined = node.items[step] as ParsedNode | undefined;
      if (item === undefined) break;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else break;
  }
  return lines.linePos(offset).line;
}
