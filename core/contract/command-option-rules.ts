/** Programs that are safe with most words and not with some, and options behind which most programs expect code; see command-rules.ts. */
import type { CommandRule } from './command-rules.ts';

/** What is a door only with some option or subcommand. */
export interface OptionRule extends CommandRule {
  /** Literal words that open it; `--x` also covers `--x=...`, `-x` any letters with x among them. */
  readonly options: readonly string[];
  /** Its long options have one dash, so letters behind a dash are not options of their own. */
  readonly oneDash?: true;
}

/** Refused with some words. */
export const WITH_OPTIONS: readonly OptionRule[] = [
  {
    programs: ['find'],
    options: ['-exec', '-execdir', '-ok', '-okdir', '-fprint', '-fprintf', '-fls', '-delete'],
    oneDash: true,
    because: 'runs a program for each file, or writes and deletes files',
    cure: 'List the files and act on them by a contract of its own.',
  },
  {
    programs: ['fd', 'fdfind'],
    options: ['-x', '-X', '--exec', '--exec-batch'],
    because: 'runs a program for each file',
    cure: 'List the files and act on them by a contract of its own.',
  },
  {
    programs: ['tar', 'bsdtar', 'gtar'],
    options: [
      '--to-command',
      '--use-compress-program',
      '-I',
      '--checkpoint-action',
      '--info-script',
      '--new-volume-script',
      '-F',
      '--rsh-command',
      '--rmt-command',
    ],
    because: 'runs another program on the way',
    cure: 'Use its own compression (-z, -j, -J) or none.',
  },
  {
    programs: ['git'],
    options: [
      '-c',
      '--config-env',
      '--exec-path',
      '--upload-pack',
      '--receive-pack',
      '--ext-diff',
      '--exec',
      '-x',
      '--open-files-in-pager',
      '-O',
      'bisect',
      'filter-branch',
      'rebase',
      'submodule',
      'config',
      'difftool',
      'mergetool',
    ],
    because: 'runs a program that its configuration or this word names',
    cure: 'Drop it; set what the repository needs in a configuration file on the host.',
  },
  {
    programs: ['rsync'],
    options: ['-e', '--rsh', '--rsync-path', '--daemon', '--config', '--files-from', '--filter', '-f'],
    because: 'starts the program it is told to transfer with, or reads rules from a file',
    cure: 'Drop it; a transfer to another host is a contract for that host.',
  },
  {
    programs: ['sed', 'gsed'],
    options: ['-f', '--file', '-i', '--in-place', '-e', '--expression'],
    because: 'takes a script in which e and w run programs and write files',
    cure: 'Return the lines as they are and choose in result; or give it one literal script such as 1,200p as its first word.',
  },
  {
    programs: ['zip', 'unzip'],
    options: ['-T', '-TT', '--unzip-command'],
    because: 'runs a program to test the archive',
    cure: 'Drop it.',
  },
  {
    programs: ['tcpdump'],
    options: ['-z', '-w', '-W', '-G'],
    because: 'runs a program on each file it wrote',
    cure: 'Drop it, and bound the run with -c.',
  },
  {
    programs: ['sort'],
    options: ['--compress-program', '-o', '--output'],
    because: 'runs a program to compress, or writes a file',
    cure: 'Drop it.',
  },
  {
    programs: ['ip'],
    options: ['netns', 'vrf', '-batch', '-b', '-ba', '-netns', '-n', '-net'],
    oneDash: true,
    because: 'runs commands elsewhere, or from a file',
    cure: 'Drop it.',
  },
  {
    programs: ['systemctl', 'journalctl', 'hostnamectl', 'loginctl', 'machinectl'],
    options: ['edit', 'import-environment', 'set-environment', '-H', '--host', '-M', '--machine', '--root', 'shell'],
    because: 'opens an editor, or goes to another host, machine or root',
    cure: 'Name the unit on the host that the contract goes to.',
  },
  {
    programs: ['docker', 'podman', 'nerdctl', 'crictl', 'ctr', 'kubectl', 'oc', 'lxc', 'incus', 'flatpak', 'distrobox', 'toolbox'],
    options: ['exec', 'run', 'create', 'debug', 'attach', 'compose', 'build', 'cp', 'enter', 'shell', 'apply', 'task', 'tasks'],
    because: 'runs another program, inside of a container or as one',
    cure: 'Write a contract for the API of the platform, or for what the program does.',
  },
  {
    programs: ['curl'],
    options: ['-K', '--config', '-o', '-O', '--output', '--remote-name', '-T', '--upload-file', '-x', '--proxy'],
    because: 'reads its options from a file, or moves files between the host and elsewhere',
    cure: 'Write an http contract.',
  },
  {
    programs: ['wget'],
    options: ['-O', '-o', '-P', '-i', '--input-file', '--use-askpass', '--post-file', '--output-document'],
    because: 'runs a program that asks, or moves files between the host and elsewhere',
    cure: 'Write an http contract.',
  },
  {
    programs: ['apt', 'apt-get', 'apt-cache'],
    options: ['-o', '--option', '-c', '--config-file'],
    because: 'takes programs to run as options',
    cure: 'Drop it; set what it needs in a configuration file on the host.',
  },
  {
    programs: ['rpm', 'rpmbuild'],
    options: ['--eval', '-E', '--define', '-D', '--pipe', '--root'],
    because: 'takes macros that run programs, or another root',
    cure: 'Drop it.',
  },
];

/** The next word, or what follows `=`, is code or a program for most programs that have them: a value may not stand there. */
export const CODE_OPTIONS: ReadonlySet<string> = new Set([
  '-c',
  '-e',
  '-E',
  '-x',
  '-exec',
  '--command',
  '--cmd',
  '--code',
  '--eval',
  '--evaluate',
  '--exec',
  '--execute',
  '--expression',
  '--program',
  '--rsh',
  '--script',
  '--shell',
  '--sql',
  '--run',
  '--pre-command',
  '--post-command',
  '--editor',
  '--pager',
  '--plugin',
  '--load',
  '--require',
  '--config',
]);
