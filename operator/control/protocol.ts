/** The first word of a sidecar, checked, and the version of the protocol that is spoken with it (failure case INJ-23). */
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import type { ConnectRequest, Hello } from '#proto/postern/control/v1/control_pb.ts';
import { isDigest } from './session-status.ts';

/** Versions of proto/postern/control/v1/control.proto that this operator speaks, oldest first. */
export const PROTOCOLS: readonly number[] = [1, 2, 3];

/** Throws ControlRefusal. */
export function helloIn(request: ConnectRequest | undefined): Hello {
  if (request?.message.case !== 'hello') throw new ControlRefusal('PROTOCOL_BROKEN', 'The first message is a Hello.');
  const hello = request.message.value;
  if (!/^[0-9A-Za-z.+-]{1,63}$/.test(hello.version)) throw new ControlRefusal('PROTOCOL_BROKEN', 'Hello.version is a version like 0.1.0.');
  if (!isDigest(hello.instance)) throw new ControlRefusal('PROTOCOL_BROKEN', 'Hello.instance is a digest, sha256: and 64 hex digits.');
  return hello;
}

/** The newest version both speak, or why there is none. A sidecar that names no version is older than this field. */
export function chooseProtocol({ protocols, version }: Hello): number | ControlRefusal {
  const common = PROTOCOLS.filter((each) => protocols.includes(each));
  const newest = common.at(-1);
  if (newest !== undefined) return newest;
  const oldestOurs = Math.min(...PROTOCOLS);
  if (protocols.length > 0 && Math.min(...protocols) > Math.max(...PROTOCOLS))
    return new ControlRefusal(
      'SIDECAR_TOO_NEW',
      `Sidecar ${version} speaks no version of the control protocol up to ${Math.max(...PROTOCOLS)}. Upgrade the operator.`,
    );
  return new ControlRefusal(
    'SIDECAR_TOO_OLD',
    `Sidecar ${version} speaks no version of the control protocol from ${oldestOurs} on. Start the pod anew, so that it gets the sidecar of this release.`,
  );
}
