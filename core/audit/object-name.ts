/**
 * Names of objects, and where each kind stands in a store (FORMAT.md, "In a store"). The names help people and listings; what an object is
 * says its content.
 */
import { limits } from '#core/bounds/limits.ts';

/** Which chain: in a cluster its name, the namespace and the pod's UID; else `standalone`, `local` and the last part of the origin. */
export interface ChainPlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly session: string;
  /** When the chain began, milliseconds since 1970. */
  readonly beganMs: number;
}

export const STANDALONE = { cluster: 'standalone', namespace: 'local' } as const;

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused.
const PART = /^(?!\.{1,2}$)[^/\\\0-\x1f\x7f]{1,255}$/;

/** Parts between `/`, none empty, `.` or `..`, without `\` and control characters; no folder is left that way, on any system. */
export function isObjectName(text: string): boolean {
  return text.length <= limits.auditObjectNameCharsMax && text.isWellFormed() && text.split('/').every((part) => PART.test(part));
}

/** `2026-12-01`, in UTC. */
function dateText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** With `/` at its end. */
export function chainFolder({ cluster, namespace, session, beganMs }: ChainPlace): string {
  return `${cluster}/${namespace}/${dateText(beganMs)}/${session}/`;
}

/** In the chain's folder. */
export function segmentObject(number: number): string {
  return `${String(number).padStart(10, '0')}.seg`;
}

/** In the chain's folder. A chain that ends and goes on, as with a restarted container, gets one each time it ends. */
export function manifestObject(lastSequence: number): string {
  return `manifest-${sequenceText(lastSequence)}.json`;
}

/** In the chain's folder; of the first record of the frame. */
export function intentObject(sequence: number): string {
  return `intents/${sequenceText(sequence)}.frame`;
}

/** From the root of the store. */
export function headsObject(cluster: string, ms: number): string {
  return `heads/${cluster}/${dateText(ms)}/${new Date(ms).toISOString().slice(11, 19).replaceAll(':', '')}.note`;
}

function sequenceText(sequence: number): string {
  return String(sequence).padStart(16, '0');
}
