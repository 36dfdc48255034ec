/** Where the action goes: one HTTP request with its helpers, or one command over SSH. */

import { checkWords } from './check-command.ts';
import { compileRequest, jsonAt } from './compile-request.ts';
import type { HttpTarget, RequestTemplate, SshTarget } from './compiled.ts';
import { type Draft, templateAt } from './draft.ts';
import type { SpecNode } from './spec-node.ts';

export function compileTarget(draft: Draft): HttpTarget | SshTarget {
  const { spec } = draft;
  const http = spec.maybe('http');
  const ssh = spec.maybe('ssh');
  if ((http === undefined) === (ssh === undefined)) spec.problem('exactly-one', 'A contract has exactly one target: http or ssh.');
  return http === undefined && ssh !== undefined ? sshTarget(draft, ssh) : httpTarget(draft, spec.at('http'));
}

function httpTarget(draft: Draft, node: SpecNode): HttpTarget {
  const open = node.maybe('open');
  const next = node.maybe('next');
  const close = node.maybe('close');
  return {
    kind: 'http',
    credential: templateAt(draft, node.at('credential'), 'credential', 'main'),
    request: compileRequest(draft, node, 'main'),
    ...(open === undefined ? {} : { open: { ...compileRequest(draft, open, 'open'), values: openValues(open) } }),
    ...(next === undefined ? {} : { next: compileRequest(draft, next, 'next') }),
    ...(close === undefined ? {} : { close: compileRequest(draft, close, 'close') }),
  };
}

function openValues(node: SpecNode): NonNullable<HttpTarget['open']>['values'] {
  const values = node
    .at('values')
    .entries()
    .map(([name, path]) => ({ name, path: path.pointer() }));
  if (values.length === 0) node.at('values').problem('open-values', 'open gives no values, so nothing would use it.');
  return values;
}

function sshTarget(draft: Draft, node: SpecNode): SshTarget {
  const stdin = node.maybe('stdin');
  const argv = node.at('argv');
  const words = argv.list().map((word) => templateAt(draft, word, 'argv', 'ssh'));
  const shell = node.at('shell').choice(['Posix', 'ForcedCommand']);
  checkWords(argv, words, shell);
  return {
    kind: 'ssh',
    credential: node.at('credential').text(),
    host: hostAt(draft, node.at('host')),
    argv: words,
    shell,
    ...(stdin === undefined ? {} : { stdin: jsonAt(draft, stdin, 'ssh') }),
  };
}

function hostAt(draft: Draft, node: SpecNode): SshTarget['host'] {
  const host = templateAt(draft, node, 'host', 'ssh');
  const [part] = host;
  const fixed = host.length === 1 && (typeof part === 'string' || part?.root === 'resolve');
  if (node.value !== '' && !fixed) node.problem('ssh-host', 'The host is neither literal nor one $(resolve.argument.member).');
  return host;
}

/** Every request of the target with the place it is written at. */
export function requestsOf(target: HttpTarget): readonly (readonly [readonly string[], RequestTemplate])[] {
  const named = (['open', 'next', 'close'] as const).flatMap((name) => {
    const request = target[name];
    return request === undefined ? [] : [[['spec', 'http', name], request] as const];
  });
  return [[['spec', 'http'], target.request], ...named];
}
