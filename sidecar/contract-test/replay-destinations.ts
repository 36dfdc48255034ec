/** Every destination is the recording, except token endpoints: their exchanges are the credential's, not the contract's. */
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import type { OutboundRequest, RawReply, SendOptions, Transport } from '#sidecar/execute/http/transport.ts';
import { CANARY_TOKEN_REPLY } from './canary-credential.ts';

export class ReplayDestinations extends Destinations {
  readonly #transport: Transport;

  constructor(recording: Transport, bindings: readonly CompiledBinding[]) {
    super({ allowLoopback: false });
    const tokenUrls = new Set(bindings.flatMap(({ spec }) => spec.use.oauth2ClientCredentials?.tokenUrl ?? []));
    this.#transport = {
      send: (request, options) => (tokenUrls.has(request.origin + request.target) ? token() : sendOn(recording, request, options)),
    };
  }

  override transport(): Transport {
    return this.#transport;
  }
}

async function token(): Promise<RawReply> {
  return CANARY_TOKEN_REPLY;
}

function sendOn(recording: Transport, request: OutboundRequest, options: SendOptions): Promise<RawReply> {
  return recording.send(request, options);
}
