/**
 * Programs and options that make something else of their words than data: a second program, code, or a file that is run. One table for the
 * compiler, and for whoever wants to know why a command was refused (failure cases SSH-15, SSH-16).
 *
 * It is a list of known mistakes, not a proof: a program that is not in it may run code as well. What holds without it: the program and its
 * options are the contract's own words, and every value is one word that cannot begin with a dash.
 */

export interface CommandRule {
  /** In lower case, without version and build: `nameOf` in check-command.ts takes those off. */
  readonly programs: readonly string[];
  /** Ends the sentence that begins with the program. */
  readonly because: string;
  readonly cure: string;
  /** Only by its bare name: by its whole path it is a program, and not the word of the shell. */
  readonly bare?: true;
}

const ITSELF = 'Name the program that does the job, with its whole path.';

/** Refused with any words. */
export const NEVER: readonly CommandRule[] = [
  {
    programs: named('sh bash dash ash zsh ksh mksh posh yash csh tcsh fish rbash rksh static-sh elvish xonsh nu pwsh powershell'),
    because: 'is a shell: it reads its words as commands',
    cure: 'Name the program that does the job; put several steps into a script on the host and name that.',
  },
  {
    programs: named('eval exec source . command builtin trap alias time coproc if while for case ! {'),
    because: 'is a word of the shell: it runs what follows it',
    cure: ITSELF,
  },
  {
    // `test -v 'a[$(id)]'` and `printf -v` run id in bash, arithmetic does in others; quotes do not help, the word has left them by then.
    programs: named(`
      [ test printf let declare typeset export readonly local unset read mapfile readarray getopts compgen complete enable
      bind set shopt hash fc wait
    `),
    because: 'is a word of the shell: some shells evaluate the words behind it',
    cure: 'Name the program by its whole path, such as /usr/bin/test.',
    bare: true,
  },
  {
    programs: named('ld.so run-parts run-one chronic ifne logsave fakeroot faketime eatmydata proxychains torsocks'),
    because: 'is given the path of another program and runs it',
    cure: ITSELF,
  },
  {
    programs: ['busybox', 'toybox', 'sash'],
    because: 'is many programs in one, a shell among them',
    cure: 'Name the program that does the job by its own name.',
  },
  {
    programs: named(`
      python pypy perl ruby node nodejs deno bun php lua luajit tclsh wish expect r rscript guile osascript java jshell groovy
      julia irb erl escript elixir iex ghci runghc ocaml sbcl clisp scala kotlin jrunscript qjs tsx ts-node mono dotnet octave
      gnuplot
    `),
    because: 'is an interpreter: it takes code as words or from a file',
    cure: 'Put the code into an executable file on the host with a #! line, and name that file.',
  },
  {
    programs: named('awk gawk mawk nawk original-awk jq yq bc dc m4 gdb lldb sqlite sqlite3 bpftrace'),
    because: 'takes a program as one of its words',
    cure: 'Return the lines as they are and choose in result, or put the program into a script on the host.',
  },
  {
    programs: named(`
      env xargs parallel nohup timeout nice ionice chrt taskset setsid stdbuf unbuffer script watch flock strace ltrace
      valgrind entr catchsegv prlimit setarch linux64 numactl daemonize start-stop-daemon cgexec choom cpulimit
      dbus-run-session ssh-agent perf rlwrap tini dumb-init xvfb-run systemd-run systemd-inhibit systemd-nspawn
    `),
    because: 'runs another program that stands among its words',
    cure: 'Name that program itself; time and output are limited by completeness.limits.',
  },
  {
    programs: named(`
      chroot unshare nsenter setpriv capsh runuser su doas run0 gosu su-exec ksu setuidgid pkexec sg newgrp runcon bwrap
      firejail nsjail aa-exec fakechroot proot runc crun lxc-attach lxc-execute chpst
    `),
    because: 'runs another program as somebody else, or somewhere else',
    cure: 'Log in as the user the command needs (use.sshKey.user), or write sudo -n and a program with its whole path.',
  },
  {
    programs: named('ssh slogin scp sftp mosh rsh rlogin telnet ftp lftp tftp nc ncat netcat socat sshpass autossh vagrant'),
    because: 'leads to another host, past its pin and its binding',
    cure: 'Write a contract for that host; a hop is the via of its destination.',
  },
  {
    programs: ['at', 'batch', 'crontab', 'incrontab', 'screen', 'tmux', 'dtach'],
    because: 'runs text later, or in the background, where nobody sees how it ends',
    cure: ITSELF,
  },
  {
    programs: named(`
      vi vim view nvim ex ed red vimdiff rvim rview nvi joe jed mcedit mc editor pager sensible-editor sensible-pager zless
      zmore emacs nano pico less more most man info top htop visudo sudoedit
    `),
    because: 'waits for a person, and runs commands for whoever types',
    cure: 'Use cat, head, tail or the program behind it; there is no terminal.',
  },
  {
    programs: named(`
      make gmake cmake ninja npm npx yarn pnpm pip gem cargo go rake bundle just ant mvn gradle bazel composer poetry uv pipx
      tox pytest nix nix-shell direnv terraform salt-call puppet ansible ansible-playbook
    `),
    because: 'runs what the files of a folder say',
    cure: 'Name the program that does the job.',
  },
];

/** A list that is too long for a line. */
function named(words: string): readonly string[] {
  return words.trim().split(/\s+/);
}
