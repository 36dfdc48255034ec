/**
 * Programs and options that make something else of their words than data: a second program, code, or a file that is run. One table for the
 * compiler, and for whoever wants to know why a command was refused (failure cases SSH-15, SSH-16).
 *
 * It is a list of known mistakes, not a proof: a program that is not in it may run code as well. What holds without it: the program and its
 * options are the contract's own words, and every value is one word that cannot begin with a dash.
 */

export interface CommandRule {
  readonly programs: readonly string[];
  /** Ends the sentence that begins with the program. */
  readonly because: string;
  readonly cure: string;
}

const ITSELF = 'Name the program that does the job, with its whole path.';

/** Refused with any words. */
export const NEVER: readonly CommandRule[] = [
  {
    programs: ['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'csh', 'tcsh', 'fish', 'rbash', 'pwsh'],
    because: 'is a shell: it reads its words as commands',
    cure: 'Name the program that does the job; put several steps into a script on the host and name that.',
  },
  {
    programs: [
      'eval',
      'exec',
      'source',
      '.',
      'command',
      'builtin',
      'trap',
      'alias',
      'time',
      'coproc',
      'if',
      'while',
      'for',
      'case',
      '!',
      '{',
    ],
    because: 'is a word of the shell: it runs what follows it',
    cure: ITSELF,
  },
  {
    programs: ['busybox', 'toybox', 'sash'],
    because: 'is many programs in one, a shell among them',
    cure: 'Name the program that does the job by its own name.',
  },
  {
    programs: [
      'python',
      'pypy',
      'perl',
      'ruby',
      'node',
      'nodejs',
      'deno',
      'bun',
      'php',
      'lua',
      'luajit',
      'tclsh',
      'wish',
      'expect',
      'Rscript',
      'guile',
      'osascript',
      'java',
      'jshell',
      'groovy',
      'julia',
      'irb',
    ],
    because: 'is an interpreter: it takes code as words or from a file',
    cure: 'Put the code into an executable file on the host with a #! line, and name that file.',
  },
  {
    programs: ['awk', 'gawk', 'mawk', 'nawk', 'jq', 'bc', 'dc', 'm4', 'gdb', 'lldb'],
    because: 'takes a program as one of its words',
    cure: 'Return the lines as they are and choose in result, or put the program into a script on the host.',
  },
  {
    programs: [
      'env',
      'xargs',
      'parallel',
      'nohup',
      'timeout',
      'nice',
      'ionice',
      'chrt',
      'taskset',
      'setsid',
      'stdbuf',
      'unbuffer',
      'script',
      'watch',
      'flock',
      'strace',
      'ltrace',
      'valgrind',
      'entr',
      'catchsegv',
      'prlimit',
      'setarch',
      'linux64',
      'numactl',
      'daemonize',
      'start-stop-daemon',
      'systemd-run',
      'systemd-inhibit',
      'systemd-nspawn',
    ],
    because: 'runs another program that stands among its words',
    cure: 'Name that program itself; time and output are limited by completeness.limits.',
  },
  {
    programs: [
      'chroot',
      'unshare',
      'nsenter',
      'setpriv',
      'capsh',
      'runuser',
      'su',
      'doas',
      'pkexec',
      'sg',
      'newgrp',
      'runcon',
      'bwrap',
      'firejail',
      'chpst',
    ],
    because: 'runs another program as somebody else, or somewhere else',
    cure: 'Log in as the user the command needs (use.sshKey.user), or write sudo -n and a program with its whole path.',
  },
  {
    programs: ['ssh', 'slogin', 'scp', 'sftp', 'mosh', 'rsh', 'telnet', 'nc', 'ncat', 'netcat', 'socat'],
    because: 'leads to another host, past its pin and its binding',
    cure: 'Write a contract for that host; a hop is the via of its destination.',
  },
  {
    programs: ['at', 'batch', 'crontab', 'screen', 'tmux', 'dtach'],
    because: 'runs text later, or in the background, where nobody sees how it ends',
    cure: ITSELF,
  },
  {
    programs: [
      'vi',
      'vim',
      'view',
      'nvim',
      'ex',
      'ed',
      'emacs',
      'nano',
      'pico',
      'less',
      'more',
      'most',
      'man',
      'info',
      'top',
      'htop',
      'visudo',
      'sudoedit',
    ],
    because: 'waits for a person, and runs commands for whoever types',
    cure: 'Use cat, head, tail or the program behind it; there is no terminal.',
  },
  {
    programs: ['make', 'gmake', 'cmake', 'ninja', 'npm', 'npx', 'yarn', 'pnpm', 'pip', 'gem', 'cargo', 'go', 'ansible', 'ansible-playbook'],
    because: 'runs what the files of a folder say',
    cure: 'Name the program that does the job.',
  },
];
