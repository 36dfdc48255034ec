/**
 * What a person should know before the first call fails: credential files that are not there, and loopback destinations
 * that are refused. Neither keeps the sidecar from starting: a Secret may be mounted later.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { secretKeysOf } from '#core/resource/secret-keys.ts';

export type StartWarning =
  | { readonly kind: 'missing credential file'; readonly binding: string /** `secret/key`. */; readonly file: string }
  | { readonly kind: 'loopback is refused without --allow-loopback'; readonly binding: string };

export function startWarnings(bindings: readonly CompiledBinding[], credentials: string, allowLoopback: boolean): readonly StartWarning[] {
  const warnings: StartWarning[] = [];
  for (const { name, spec } of bindings) {
    for (const { key } of secretKeysOf(spec)) {
      if (!existsSync(join(credentials, spec.secret.name, key)))
        warnings.push({ kind: 'missing credential file', binding: name, file: `${spec.secret.name}/${key}` });
    }
    if (!allowLoopback && spec.destinations.some(({ addresses = [] }) => addresses.some(isLoopback)))
      warnings.push({ kind: 'loopback is refused without --allow-loopback', binding: name });
  }
  return warnings;
}

function isLoopback(range: string): boolean {
  return range.startsWith('127.') || range === '::1' || range === '::1/128';
}
