/**
 * Which keys the operator answers for. One key an epoch, and no epoch again: who takes a machine over in epoch 7 gets no certificate for a key
 * of epoch 3, with which he could write anew what was before him (failure case AUD-04).
 */
import { type Certificate, certify, epochKeyName } from '#core/audit/checkpoint.ts';
import { parseVerifier, type SigningKey, verifierText } from '#core/audit/signed-note.ts';
import { EPOCH_MAX } from '#core/audit/statement.ts';

export interface KnownEpoch {
  readonly epoch: number;
  /** Verifier key, as text. */
  readonly key: string;
}

export interface AskedEpoch extends KnownEpoch {
  readonly origin: string;
}

export type EpochVerdict =
  /** `isNew`: the session must remember it before anybody is told. */
  | { readonly kind: 'certified'; readonly note: string; readonly isNew: boolean }
  | { readonly kind: 'refused'; readonly because: 'malformed' | 'passed' | 'other_key'; readonly message: string };

/** `known`: the last one that was certified for this session. */
export function judgeEpoch(known: KnownEpoch | undefined, asked: AskedEpoch, authority: SigningKey): EpochVerdict {
  const certificate = certificateOf(asked);
  if (certificate === undefined)
    return refused('malformed', 'The key is no verifier key named after the origin of this session and its epoch; restart the pod.');
  if (known !== undefined && asked.epoch < known.epoch)
    return refused('passed', `Epoch ${known.epoch} of this chain is certified; no key of an epoch before it is.`);
  if (known !== undefined && asked.epoch === known.epoch && asked.key !== known.key)
    return refused('other_key', `Epoch ${known.epoch} of this chain is certified with another key; begin a new epoch.`);
  return { kind: 'certified', note: certify(certificate, authority), isNew: known?.epoch !== asked.epoch };
}

function certificateOf({ origin, epoch, key }: AskedEpoch): Certificate | undefined {
  const verifier = parseVerifier(key);
  if (verifier === undefined || epoch < 1 || epoch > EPOCH_MAX || verifierText(verifier) !== key) return undefined;
  return verifier.name === epochKeyName(origin, epoch) ? { origin, epoch, key: verifier } : undefined;
}

function refused(because: 'malformed' | 'passed' | 'other_key', message: string): EpochVerdict {
  return { kind: 'refused', because, message };
}
