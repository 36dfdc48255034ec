/**
 * The words of a command, as its author wrote them: the program is fixed and does the job itself, no word is code, and no value stands
 * where code is expected (failure cases SSH-15, SSH-16).
 */
import { CODE_OPTIONS, type OptionRule, WITH_OPTIONS } from './command-option-rules.ts';
import { type CommandRule, NEVER } from './command-rules.ts';
import type { SshTarget, Template } from './compiled.ts';
import type { Draft } from './draft.ts';
import { isPlainWord } from './shell-word.ts';
import { type Declared, isUnknown, kindOf } from './slot-kind.ts';
import type { SpecNode } from './spec-node.ts';
import { literalText } from './template-text.ts';

/** `argv`: the list; one node a word. */
export function checkWords(argv: SpecNode, templates: readonly Template[], shell: SshTarget['shell']): void {
  const words = templates.map((template) => literalText(template));
  if (words.length === 0) argv.problem('ssh-argv', 'The argument vector is empty.');
  else checkProgram(argv, words, 0);
  const nodes = argv.list();
  for (const [index, template] of templates.entries()) {
    const node = nodes[index] ?? argv;
    checkCodeOption(node, template, words[index - 1]);
    if (shell === 'ForcedCommand') checkForced(node, words[index]);
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
function checkProgram(argv: SpecNode, words: readonly (string | undefined)[], from: number): void {
  const program = words[from];
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
  const name = nameOf(program);
  if (name === 'sudo') checkSudo(argv, words, from);
  const never = ruleOf(NEVER, name);
  if (never !== undefined) problem(`${program} ${never.because}.`, never.cure);
  const rule = ruleOf(WITH_OPTIONS, name);
  if (rule !== undefined) checkOptions(argv, program, rule, words.slice(from + 1));
}

/** `sudo -n PROGRAM`: it may not ask, and what it runs is literal (contract language, section 5, point 33). */
function checkSudo(argv: SpecNode, words: readonly (string | undefined)[], from: number): void {
  const behind = words[from + 2];
  if (from > 0 || words[from + 1] !== '-n' || behind === undefined || !behind.startsWith('/')) {
    argv.problem('ssh-argv', 'sudo is allowed as sudo -n and a literal program with its whole path.', {
      cure: 'Write sudo, -n, /usr/bin/PROGRAM; who it runs as belongs into sudoers on the host.',
    });
    return;
  }
  checkProgram(argv, words, from + 2);
}

function checkOptions(argv: SpecNode, program: string, rule: OptionRule, words: readonly (string | undefined)[]): void {
  const end = words.indexOf('--');
  const options = end < 0 ? words : words.slice(0, end);
  const found = options.find((word) => word !== undefined && rule.options.some((option) => opens(word, option, rule.oneDash === true)));
  if (found !== undefined) argv.problem('ssh-argv', `${program} ${found} ${rule.because}.`, { cure: rule.cure });
  if (nameOf(program) === 'sed') checkSed(argv, words);
}

/** `--x` and `--x=VALUE`; `-x` alone, with its value, or among other letters; a subcommand. */
function opens(word: string, option: string, oneDash: boolean): boolean {
  if (word === option) return true;
  if (option.startsWith('--')) return word.startsWith(`${option}=`);
  const letter = /^-([A-Za-z])$/.exec(option)?.[1];
  if (letter === undefined || oneDash || word.startsWith('--')) return false;
  return word.startsWith(option) || (/^-[A-Za-z]+$/.test(word) && word.includes(letter));
}

/** The first word that is no option is the script. */
function checkSed(argv: SpecNode, words: readonly (string | undefined)[]): void {
  const script = words.find((word) => word === undefined || !word.startsWith('-'));
  const cure = 'Give it one literal script without e and w as its first word, such as -n 1,200p.';
  if (script === undefined) argv.problem('ssh-argv', 'The script of sed is a slot, and a script can run programs.', { cure });
  else if (!/^[0-9$,]+[pdq]$/.test(script))
    argv.problem('ssh-argv', `The script ${JSON.stringify(script)} of sed is more than lines to print or drop.`, { cure });
}

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

/** `/usr/bin/python3.12` is python. */
function nameOf(program: string): string {
  const base = program.slice(program.lastIndexOf('/') + 1);
  return NAMES.has(base) ? base : base.replace(/[-.]?[0-9][0-9.]*$/, '');
}

const NAMES: ReadonlySet<string> = new Set([...NEVER, ...WITH_OPTIONS].flatMap(({ programs }) => programs));
