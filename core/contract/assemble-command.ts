/**
 * A command from its template and the values of one call: the host it goes to, the line its shell reads, the bytes on its standard input.
 *
 * - Built from words, each quoted; then split again and compared with the words meant. A difference is a fault of ours and nothing is sent.
 * - A value that begins with `-` is an option to most programs, whatever the quotes: it is refused unless the contract puts `--` before
 *   it (failure case SSH-15).
 * - `ForcedCommand`: the line is the contract's own words; what the agent says goes as canonical JSON to the standard input.
 * - No key is in it: that comes after the destination is final.
 */
import { limits } from '#core/bounds/limits.ts';
import type { SentRequest } from '#core/completeness/exchange.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { JsonValue, Slot, SshTarget, Template } from './compiled.ts';
import { isMisfit, misfit } from './encode.ts';
import { isPlainWord, shellWord, shellWords } from './shell-word.ts';
import type { SlotValues } from './slot-value.ts';
import { sshOrigin } from './ssh-origin.ts';
import { composedJson, composedText, formatted, literalText, missing, refuse, repeatedTexts, singleSlot } from './template-text.ts';

/** A command assembled and compared with its template. */
export interface OutboundCommand {
  /** Canonical origin, `ssh://host:port`. */
  readonly origin: string;
  readonly argv: readonly string[];
  /** What the remote's shell reads. */
  readonly line: string;
  /** Standard input; absent: empty. */
  readonly stdin?: Uint8Array;
}

const assembled = new WeakSet<OutboundCommand>();

/** Whether this very object was built here: its destination is final and frozen. What gives out keys asks. */
export function isAssembledCommand(command: OutboundCommand): boolean {
  return assembled.has(command);
}

export interface AssembledCommand {
  readonly outbound: OutboundCommand;
  readonly sent: SentRequest;
}

/** @throws PosternError INVALID_ARGUMENT (field path and rule) for the agent's value, INTERNAL where the contract should not have compiled. */
export function assembleCommand(target: SshTarget, values: SlotValues): AssembledCommand {
  const argv = wordsOf(target.argv, values);
  const line = target.shell === 'ForcedCommand' ? plainLine(argv) : quotedLine(argv);
  if (Buffer.byteLength(line) > limits.sshCommandBytesMax) throw tooLong(target.argv, values);
  const stdin = target.stdin === undefined ? undefined : (composedJson(target.stdin, values) ?? null);
  const outbound: OutboundCommand = Object.freeze({
    origin: originOf(target, values),
    argv: Object.freeze(argv.map(({ text }) => text)),
    line,
    ...(stdin === undefined ? {} : { stdin: Buffer.from(canonicalJson(stdin), 'utf8') }),
  });
  assembled.add(outbound);
  return { outbound, sent: sentOf(line, stdin) };
}

/** What rules see as sent. */
function sentOf(line: string, stdin: JsonValue | undefined): SentRequest {
  return { method: 'SSH', path: line, query: {}, headers: {}, body: stdin ?? null };
}

interface Word {
  readonly text: string;
  /** Whose value it begins with. */
  readonly slot?: Slot;
  readonly index?: number;
}

function wordsOf(templates: readonly Template[], values: SlotValues): readonly Word[] {
  const words: Word[] = [];
  let optionsEnded = false;
  let awaitsValue = false;
  for (const template of templates) {
    const literal = literalText(template);
    if (literal !== undefined) {
      optionsEnded ||= literal === '--' && words.length > 0 && !awaitsValue;
      awaitsValue = false;
      words.push({ text: literal });
      continue;
    }
    const slots = slotWords(template, values);
    // `--unit $(args.units) --` with no units: the -- would be taken for the value of --unit, and what follows it for options.
    awaitsValue = slots.length === 0 && (awaitsValue || words.at(-1)?.text.startsWith('-') === true);
    for (const word of slots) {
      if (!optionsEnded && word.slot !== undefined && word.text.startsWith('-')) {
        throw refuse(
          word.slot,
          misfit('leading_dash', 'must not begin with -: the program would take it for an option, and the contract puts no -- before it'),
          word.index,
        );
      }
      words.push(word);
    }
  }
  return words;
}

/** One word for each element of a list. Text in front of the slot says what the word is, so only a slot at its start is asked for a dash. */
function slotWords(template: Template, values: SlotValues): readonly Word[] {
  const first = template.find((part) => typeof part === 'object');
  if (first === undefined) throw mismatch();
  const texts = repeatedTexts(template, values);
  if (texts.length === 0 && singleSlot(template) === undefined) throw missing(first);
  const only = singleSlot(template);
  const repeats = only !== undefined && Array.isArray(formatted(only, values));
  const leads = typeof template[0] === 'object';
  return texts.map((text, position) => {
    const encoded = shellWord(text);
    const index = repeats ? position : undefined;
    if (isMisfit(encoded)) throw refuse(first, encoded, index);
    return { text, ...(leads ? { slot: first } : {}), ...(index === undefined ? {} : { index }) };
  });
}

function quotedLine(words: readonly Word[]): string {
  const line = words
    .map(({ text }) => {
      const encoded = shellWord(text);
      if (isMisfit(encoded)) throw mismatch();
      return encoded;
    })
    .join(' ');
  const read = shellWords(line);
  if (read?.length !== words.length || !read.every((word, index) => word === words[index]?.text)) throw mismatch();
  return line;
}

function plainLine(words: readonly Word[]): string {
  if (words.length === 0 || !words.every(({ text, slot }) => slot === undefined && isPlainWord(text))) throw mismatch();
  return words.map(({ text }) => text).join(' ');
}

function originOf({ host }: SshTarget, values: SlotValues): string {
  const text = composedText(host, values);
  if (text === undefined || text === '') throw mismatch();
  return sshOrigin(text);
}

/** The longest value of the call is the one to shorten. */
function tooLong(templates: readonly Template[], values: SlotValues): PosternError {
  const longest = templates
    .flatMap((template) => {
      const slot = template.find((part) => typeof part === 'object');
      return slot === undefined ? [] : [{ slot, length: repeatedTexts(template, values).join(' ').length }];
    })
    .toSorted((one, other) => other.length - one.length)[0];
  if (longest === undefined) return mismatch();
  return refuse(
    longest.slot,
    misfit('too_long', `makes the command longer than ${limits.sshCommandBytesMax} bytes, which is more than a remote shell is given`),
  );
}

function mismatch(): PosternError {
  return new PosternError('INTERNAL', 'The assembled command is not the one the contract describes; nothing was sent.');
}
