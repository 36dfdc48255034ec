/** Commands that make something else of their words than data, row by row of the table, and the ones people need. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CODE_OPTIONS } from '#core/contract/code-options.ts';
import { WITH_OPTIONS } from '#core/contract/command-option-rules.ts';
import { NEVER } from '#core/contract/command-rules.ts';
import type { Problem } from '#core/contract/problem.ts';
import { compileObject, objectOf } from './sample-objects.ts';

const ARGS = `
arguments:
  type: object
  additionalProperties: false
  required: [unit, names, size]
  properties:
    unit: {type: string, maxLength: 40, pattern: "^[a-z-]+$"}
    names: {type: array, maxItems: 3, items: {type: string, maxLength: 20, pattern: "^[a-z]+$"}}
    size: {type: string, enum: [small, big]}
resolve: {size: {small: {flag: "-s"}, big: {flag: "--big"}}}`;

/** The problems of a contract whose argv is `words`. */
function problemsOf(words: readonly string[], more = 'shell: Posix'): readonly Problem[] {
  const spec = `
action: read_box
summary: Read it
owner: team
effect: Read
readOnlyBecause: it only reads
callers: [{serviceAccount: bot}]
credentials: [hosts]
${ARGS.trim()}
ssh: {credential: hosts, host: h.example.com, argv: ${JSON.stringify(words)}, ${more}}
result: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}
completeness: {paging: {mode: SingleResponse}}
`;
  return compileObject(objectOf('ActionContract', 'read-box', spec), { bindings: [] }).problems.filter(
    ({ severity }) => severity === 'error',
  );
}

function refused(words: readonly string[], because: RegExp, path = 'spec.ssh.argv'): void {
  const [problem] = problemsOf(words);
  assert.ok(problem !== undefined, `${words.join(' ')} is taken`);
  assert.deepEqual([problem.code, problem.path], ['ssh-argv', path], words.join(' '));
  assert.match(problem.message, because);
  assert.ok((problem.cure ?? '').length > 0);
}

for (const { programs, because, bare } of NEVER) {
  test(`commands: what ${because} is refused: ${programs.slice(0, 4).join(', ')}, ...`, () => {
    for (const program of programs) {
      refused([program, 'x'], new RegExp(because.slice(0, 20)));
      if (bare === true) assert.deepEqual(problemsOf([`/usr/bin/${program}`, 'x']), []);
      else if (/^[a-z]+$/.test(program)) {
        refused([`/usr/bin/${program}`, 'x'], new RegExp(because.slice(0, 20)));
        refused(['sudo', '-n', `/usr/bin/${program}`, 'x'], new RegExp(because.slice(0, 20)));
      }
    }
  });
}

for (const { programs, options, because } of WITH_OPTIONS) {
  test(`commands: ${programs.join(', ')} is refused with the words by which it ${because}`, () => {
    for (const program of programs) {
      for (const option of options) {
        refused([program, option, 'x'], new RegExp(because.slice(0, 15)));
        refused(['sudo', '-n', `/usr/bin/${program}`, option, 'x'], new RegExp(because.slice(0, 15)));
        if (option.startsWith('--')) refused([program, `${option}=x`], new RegExp(because.slice(0, 15)));
      }
    }
  });
}

test('commands: an option among other letters, with its value, or of another version of a program, is the same', () => {
  refused(['rsync', '-ave', 'x', 'a', 'b'], /starts the program/);
  refused(['tar', '-I/tmp/x', '-xf', 'a'], /another program/);
  for (const program of [
    'python3',
    'python3.12',
    'python3.13t',
    'python3-dbg',
    '/opt/perl5.36',
    '/usr/bin/perl5.36-x86_64-linux-gnu',
    'lua-5.4',
    'ruby3.1',
    '/usr/bin/Python3',
    'python.exe',
  ])
    refused([program, '/opt/x'], /is an interpreter/);
  for (const program of ['/bin/SH', 'bash5', 'bash-static', '/bin//sh', '/usr/local/bin/static-sh']) refused([program, 'x'], /is a shell/);
  for (const program of ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-musl-x86_64.so.1', '/lib/ld-2.31.so'])
    refused([program, '/bin/sh'], /runs it/);
  refused(['/bin/nc.openbsd', 'x'], /leads to another host/);
  refused(['sudo-rs', '-n', '/bin/sh'], /is a shell/);
  refused(['/proc/self/exe', 'x'], /whatever program/);
  refused(['/dev/fd/3'], /whatever program/);
});

test('commands: a program whose name only looks like another one with a version is taken', () => {
  for (const program of ['ip6tables', 'dc3dd', 'sha256sum', 'bzip2', 'w3m', 'node_exporter', '/opt/release2/bin/deploy'])
    assert.deepEqual(problemsOf([program, '-n', 'x']), [], program);
});

test('commands: an option is known by its abbreviations, before a value, and where -- does not end the options', () => {
  refused(['tar', '--to-comm=/opt/x', '-xf', 'a'], /another program/);
  refused(['sort', '--compress-p', 'x'], /another program|to compress/);
  refused(['git', '--upload-p=x', 'fetch'], /runs a program/);
  refused(['tar', '--to-command=$(args.size)', '-xf', 'a'], /another program/);
  refused(['find', '--', '/tmp', '-delete'], /goes on reading options/);
  refused(['find', '--', '$(args.unit)'], /goes on reading options/);
  refused(['systemctl', '--', 'edit', 'x'], /opens an editor/);
  refused(['docker', '--context', 'x', 'container', 'exec', 'web', 'id'], /inside of a container/);
  assert.deepEqual(problemsOf(['sort', '--', '--output']), []);
});

test('commands: curl and wget take no value of a call, which could name a file', () => {
  for (const program of ['curl', 'wget']) {
    refused([program, '-s', 'http://127.0.0.1/$(args.size)'], /with a value of the call/);
    refused([program, '--', '$(args.unit)'], /with a value of the call/);
    assert.deepEqual(problemsOf([program, '-s', 'http://127.0.0.1:9100/metrics']), []);
  }
});

test('commands: a word that no shell could be given unchanged is refused where it is written', () => {
  for (const word of ['a\nb', 'a\u0000b', 'a\r', '\u001b[2J', 'a\u2028b'])
    refused(['tool', word], /control characters/, 'spec.ssh.argv[1]');
  refused(['tool', 'a\n$(args.size)'], /control characters/, 'spec.ssh.argv[1]');
});

test('commands: a slot directly behind an option that takes code is refused, also behind its equals sign', () => {
  for (const option of CODE_OPTIONS) {
    refused(['tool', option, '$(args.unit)'], /where most programs expect code/, 'spec.ssh.argv[2]');
    refused(['tool', `${option}=$(args.size)`], /where most programs expect code/, 'spec.ssh.argv[1]');
  }
});

test('commands: the program is written out, whole, and does not depend on where the login begins', () => {
  for (const [words, because] of [
    [['$(args.unit)'], /The program is a slot/],
    [['/usr/bin/$(args.unit)'], /The program is a slot/],
    [['./run'], /neither the name/],
    [['../run'], /neither the name/],
    [['/opt/../bin/sh'], /neither the name/],
    [['a/b'], /neither the name/],
    [['-x'], /neither the name/],
    [['A=b'], /neither the name/],
    [['a b'], /neither the name/],
    [[''], /neither the name/],
    [['~/run'], /neither the name/],
  ] as const) {
    refused(words, because);
  }
  assert.deepEqual(
    problemsOf([]).map(({ code }) => code),
    ['ssh-argv'],
  );
});

test('commands: sudo may not ask, and runs a literal program with its whole path', () => {
  for (const words of [
    ['sudo', '/usr/bin/systemctl'],
    ['sudo', '-n', 'systemctl'],
    ['sudo', '-n', '-u', 'x', '/usr/bin/id'],
    ['sudo', '-n', '$(args.unit)'],
    ['sudo', '-n'],
    ['sudo', '-n', '/usr/bin/sudo', '-n', '/usr/bin/id'],
  ]) {
    refused(words, /sudo is allowed as sudo -n/);
  }
});

test('commands: sed prints lines by a literal script, and nothing else', () => {
  for (const script of ['s/a/b/e', 'w /tmp/x', '1e id', '$(args.unit)', 's/a/b/']) refused(['sed', '-n', script, '/var/log/x'], /script/);
  refused(['sed', '-l', '5p', '1e id', '/var/log/x'], /script/);
  refused(['sed', '--expr=1e id', '/var/log/x'], /script/);
  assert.deepEqual(problemsOf(['sed', '-n', '1,200p', '/var/log/x']), []);
  assert.deepEqual(problemsOf(['sed', '--sandbox', '-n', '--', '1,200p', '/var/log/x']), []);
});

test('commands: a resolved value that begins with a dash is refused where no -- stands before it (SSH-15)', () => {
  refused(['tool', '$(resolve.size.flag)'], /is an option to most programs/, 'spec.ssh.argv[1]');
  assert.deepEqual(problemsOf(['tool', '--', '$(resolve.size.flag)']), []);
});

test('commands: a forced command has plain words and no slot, and takes the values on its standard input (SSH-16)', () => {
  const forced = 'shell: ForcedCommand, stdin: {unit: "$(args.unit)"}';
  assert.deepEqual(problemsOf(['release', 'status'], forced), []);
  for (const words of [
    ['release', '$(args.unit)'],
    ['release', 'a b'],
    ['release', "it's"],
    ['release', '*'],
  ]) {
    assert.deepEqual(
      problemsOf(words, forced).map(({ code, path }) => [code, path]),
      [['ssh-argv', 'spec.ssh.argv[1]']],
    );
  }
  assert.ok(problemsOf(['status'], 'shell: Csh').length > 0);
});

test('commands: what people need is taken', () => {
  for (const words of [
    ['tail', '-n', '501', '--', '/var/log/x'],
    ['systemctl', 'show', '--property=ActiveState,SubState', '--', '$(args.unit)'],
    ['sudo', '-n', '/usr/bin/systemctl', 'restart', '--', '$(args.unit)'],
    ['journalctl', '--no-pager', '--output=json', '--lines=100', '--unit', '$(args.unit)'],
    ['find', '/var/log', '-name', '*.log', '-newermt', '2026-01-01'],
    ['git', '--git-dir=/srv/x.git', 'log', '--oneline', '-n', '20'],
    ['tar', '-tf', '/backup/x.tar.gz'],
    ['df', '-P', '/'],
    ['docker', 'ps', '--format=json'],
    ['ip', '-brief', 'address'],
    ['grep', '-c', '--', '$(args.unit)', '/etc/services'],
    ['ls', '--', '$(args.names)'],
    ['tool', '--size=$(args.size)'],
  ]) {
    assert.deepEqual(problemsOf(words), [], words.join(' '));
  }
});
