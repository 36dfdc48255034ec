/**
 * The words of a command, as its author wrote them: the program is fixed and does the job itself, no word is code, and no value stands
 * where code is expected (failure cases SSH-15, SSH-16).
 */
import { CODE_OPTIONS } from './code-options.ts';
import { type OptionRule, WITH_OPTIONS } from './command-option-rules.ts';
import { type CommandRule, NEVER } from './command-rules.ts';
import type { SshTarget, Template } from './compiled.ts';
import type { Draft } from './draft.ts';
import { isMisfit } from './encode.ts';
import { isPlainWord, shellWord } from './shell-word.ts';
import { type Declared, isUnknown, kindOf } from './slot-kind.ts';
import type { SpecNode } from './spec-node.ts';
import { literalText } from './template-text.ts';

/** A word as far as its author wrote it. */
interface Word {
  /** Undefined where there is a slot in it. */
  readonly text: string | undefined;
  /** What stands before the first slot. */
  readonly head: string;
}

/** `argv`: the list; one node a word. */
export function checkWords(argv: SpecNode, templates: readonly Template[], shell: SshTarget['shell']): void {
  const words = templates.map(wordOf);
  if (words.length === 0) argv.problem('ssh-argv', 'The argument vector is empty.');
  else checkProgram(argv, words, 0);
  const nodes = argv.list();
  for (const [index, template] of templates.entries()) {
    const node = nodes[index] ?? argv;
    checkWritten(node, template);
    checkCodeOption(node, template, words[index - 1]?.text);
    if (shell === 'ForcedCommand') checkForced(node, words[index]?.text);
  }
}

function wordOf(template: Template): Word {
  const text = literalText(template);
  const [first] = template;
  return { text, head: text ?? (typeof first === 'string' ? first : '') };
}

/** What no shell could be given unchanged would fail every call. */
function checkWritten(node: SpecNode, template: Template): void {
  for (const part of template) {
    const encoded = typeof part === 'string' ? shellWord(part) : part;
    if (isMisfit(encoded)) node.problem('ssh-argv', `The word ${JSON.stringify(part)} ${encoded.why}.`);
  }
}

/** A value that begins with a dash is an option, also when the contract wrote it down; calls would be refused (failure case SSH-15). */
export function checkDashes(draft: Draft, target: SshTarget, declared: Declared): void {
  const nodes = draft.spec.at('ssh').at('argv').list();
  const ended = target.argv.findIndex((template, index) => index > 0 && literalText(template) === '--');
  for (const [index, template] of target.argv.entries()) {
    const [slot] = template;
    if (typeof slot !== 'object' || (ended >= 0 && index > ended)) continue;
    const kind = kindOf(slot, declared);
    if (isUnknown(kind)) continue;
    const wrong = (kind.fixed ?? kind.items?.fixed ?? []).find(({ value }) => typeof value === 'string' && value.startsWith('-'));
    if (wrong === undefined) continue;
    nodes[index]?.problem('ssh-argv', `${slot.text} can be ${JSON.stringify(wrong.value)}, which is an option to most programs.`, {
      cure: 'Put -- before it, or write the option out.',
    });
  }
}

/** `from`: where the program stands; sudo is looked through. */
function checkProgram(argv: SpecNode, words: readonly Word[], from: number): void {
  const program = words[from]?.text;
  const problem = (message: string, cure: string) => argv.problem('ssh-argv', message, { cure });
  if (program === undefined) {
    problem('The program is a slot.', 'Write the program out: who chooses the program chooses everything.');
    return;
  }
  if (!/^(?:\/[^\s]*[^\s/]|[A-Za-z0-9_][A-Za-z0-9_.+-]*|[.!{]|\[)$/.test(program) || /(?:^|\/)\.\.?\//.test(program)) {
    problem(
      `${JSON.stringify(program)} is neither the name of a program nor its whole path.`,
      'Write its whole path, such as /usr/bin/tail.',
    );
    return;
  }
  if (/^\/+(?:proc|dev)\//.test(program)) {
    problem(`${program} is whatever program it stands for at that moment.`, 'Name the program that does the job.');
    return;
  }
  const name = nameOf(program);
  if (name === 'sudo') checkSudo(argv, words, from);
  const never = ruleOf(NEVER, name);
  if (never !== undefined && !(never.bare === true && program.includes('/'))) problem(`${program} ${never.because}.`, never.cure);
  const rule = ruleOf(WITH_OPTIONS, name);
  if (rule !== undefined) checkOptions(argv, program, rule, words.slice(from + 1));
}

/** `sudo -n PROGRAM`: it may not ask, and what it runs is literal (contract language, section 5, point 33). */
function checkSudo(argv: SpecNode, words: readonly Word[], from: number): void {
  const behind = words[from + 2]?.text;
  if (from > 0 || words[from + 1]?.text !== '-n' || behind === undefined || !behind.startsWith('/')) {
    argv.problem('ssh-argv', 'sudo is allowed as sudo -n and a literal program with its whole path.', {
      cure: 'Write sudo, -n, /usr/bin/PROGRAM; who it runs as belongs into sudoers on the host.',
    });
    return;
  }
  checkProgram(argv, words, from + 2);
}

function checkOptions(argv: SpecNode, program: string, rule: OptionRule, words: readonly Word[]): void {
  const { oneDash = false, because, cure } = rule;
  const refuse = (word: string, why = because) => argv.problem('ssh-argv', `${program} ${word} ${why}.`, { cure });
  const end = words.findIndex(({ text }) => text === '--');
  if (oneDash && end >= 0)
    argv.problem('ssh-argv', `${program} goes on reading options after --.`, {
      cure: 'Drop the --; then a value that begins with - is refused.',
    });
  // The first word behind -- may still be a subcommand.
  const read =
    end < 0 || oneDash ? words : [...words.slice(0, end), ...words.slice(end + 1, end + 2).filter(({ head }) => !head.startsWith('-'))];
  const found = read.find(({ head }) => rule.options.some((option) => opens(head, option, oneDash)));
  if (found !== undefined) refuse(found.head);
  if (rule.literal === true && words.some(({ text }) => text === undefined)) refuse('with a value of the call among its words');
  if (nameOf(program) === 'sed' || nameOf(program) === 'gsed') checkSed(argv, words);
}

/** `--word`, its abbreviations and `--word=VALUE`; `-x` alone, with its value, or among other letters; a subcommand. */
function opens(head: string, option: string, oneDash: boolean): boolean {
  if (head === option) return true;
  if (option.startsWith('--')) {
    const [written = ''] = head.split('=', 1);
    return written.length > 2 && option.startsWith(written);
  }
  const letter = /^-([A-Za-z])$/.exec(option)?.[1];
  if (letter === undefined || oneDash || head.startsWith('--')) return false;
  return head.startsWith(option) || (/^-[A-Za-z]+$/.test(head) && head.includes(letter));
}

/** The first word that is no plain option is the script; an option that takes a word of its own would hide which one that is. */
function checkSed(argv: SpecNode, words: readonly Word[]): void {
  const script = words.find(({ text }) => text === undefined || !SED_OPTION.test(text))?.text;
  const cure = 'Give it one literal script without e and w as its first word, such as -n 1,200p.';
  if (script === undefined) argv.problem('ssh-argv', 'The script of sed is a slot, and a script can run programs.', { cure });
  else if (!/^[0-9$,]+[pdq]$/.test(script))
    argv.problem('ssh-argv', `The script ${JSON.stringify(script)} of sed is more than lines to print or drop.`, { cure });
}

const SED_OPTION = /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|sandbox)?)$/;

/** `--eval`, `$(args.x)` and `--eval=$(args.x)`. */
function checkCodeOption(node: SpecNode, template: Template, before: string | undefined): void {
  const slot = template.find((part) => typeof part === 'object');
  if (slot === undefined) return;
  const [first] = template;
  const joined = typeof first === 'string' && first.endsWith('=') ? first.slice(0, -1) : undefined;
  const option = [joined, typeof first === 'object' ? before : undefined].find((word) => word !== undefined && CODE_OPTIONS.has(word));
  if (option === undefined) return;
  node.problem('ssh-argv', `${slot.text} stands behind ${option}, where most programs expect code.`, {
    cure: `Write out what follows ${option}, and pass the value in a place that is data.`,
  });
}

function checkForced(node: SpecNode, word: string | undefined): void {
  if (word === undefined)
    node.problem('ssh-argv', 'A forced command takes nothing of the agent on its command line.', { cure: 'Pass the value in stdin.' });
  else if (!isPlainWord(word))
    node.problem('ssh-argv', `${JSON.stringify(word)} is no plain word, and whoever reads SSH_ORIGINAL_COMMAND may read it otherwise.`, {
      cure: 'Use letters, digits and _./:,@%+- only.',
    });
}

function ruleOf<Rule extends CommandRule>(rules: readonly Rule[], name: string): Rule | undefined {
  return rules.find(({ programs }) => programs.includes(name));
}

/** `/usr/bin/python3.12` is python, `nc.openbsd` nc, `sudo-rs` sudo; and a file system may not tell `SH` from `sh`. */
function nameOf(program: string): string {
  const base = program
    .slice(program.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (NAMES.has(base)) return base;
  if (/^ld[-.].*so(?:\.[0-9]+)?$/.test(base)) return 'ld.so';
  return base.replace(VERSION, '').replace(BUILD, '');
}

/** `3.12`, `-5.4`, `3.13t`, `5.36-x86_64-linux-gnu`; not the digit in `ip6tables` or `dc3dd`. */
const VERSION = /[-.]?[0-9][0-9.]*(?:[dmt]|mu|-.*)?$/;
const BUILD = /[-.](?:static|basic|tiny|nox|gtk3?|athena|traditional|openbsd|netkit|rs|ws)$/;

const NAMES: ReadonlySet<string> = new Set([...NEVER, ...WITH_OPTIONS].flatMap(({ programs }) => programs));
