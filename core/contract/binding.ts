/**
 * The compile step of a CredentialBinding. Whatever decides where a credential byte goes is here, in its owner's words, literal and
 * canonical (design section 2, point 4).
 */
import ipaddr from 'ipaddr.js';
import { digestOf } from '#core/encoding/canonical.ts';
import { type Address, addressKind } from './address-kind.ts';
import { checkStructure } from './check-structure.ts';
import { METHODS } from './compile-request.ts';
import type { CompiledBinding } from './compiled-binding.ts';
import { checkCredentialUse, checkKeyName, GITHUB_API_URL } from './credential-use.ts';
import { type Origin, parseOrigin } from './destination.ts';
import { deepFreeze } from './freeze.ts';
import { plainText } from './plain-text.ts';
import type { Problem } from './problem.ts';
import { Report } from './report.ts';
import type { ResourceObject } from './resource-object.ts';
import { SpecNode } from './spec-node.ts';

export type CompiledBindingResult =
  | { readonly binding: CompiledBinding; readonly digest: string; readonly problems: readonly Problem[] }
  | { readonly binding?: undefined; readonly problems: readonly Problem[] };

/** `digest` speaks for the spec as written, without regard to the order of keys; it is part of the revision of every contract that uses it. */
export function compileBinding(object: ResourceObject): CompiledBindingResult {
  const known = compiled.get(object);
  if (known !== undefined) return known;
  const result = compileOnce(object);
  compiled.set(object, result);
  return result;
}

/** A binding is looked at by every contract that uses it and compiled once; objects as read are never changed. */
const compiled = new WeakMap<ResourceObject, CompiledBindingResult>();

function compileOnce(object: ResourceObject): CompiledBindingResult {
  const report = new Report((path) => ({
    kind: object.kind,
    name: object.name,
    path,
    ...(object.source === undefined ? {} : { source: object.source }),
  }));
  const spec = new SpecNode(object.spec, ['spec'], report);
  const secret = spec.at('secret').at('name');
  if (secret.present && !/^postern-[a-z0-9](?:[-a-z0-9.]{0,240}[a-z0-9])?$/.test(secret.text())) {
    secret.problem('binding-secret-name', `${JSON.stringify(secret.value)} is not named postern-*.`);
  }
  const kind = checkCredentialUse(spec.at('use'));
  const origins = spec
    .at('destinations')
    .list()
    .map((node) => checkDestination(node, kind));
  checkTogether(spec, origins);
  checkStructure('CredentialBinding', object.spec, report);
  const digest = digestOf('revision', { kind: 'CredentialBinding', name: object.name, spec: object.spec });
  const checked: unknown = deepFreeze(structuredClone(object.spec));
  if (!isChecked(checked, report)) return { problems: report.problems };
  return { binding: Object.freeze({ name: object.name, namespace: object.namespace, spec: checked }), digest, problems: report.problems };
}

/** What the structural check let pass has the generated type. */
function isChecked(spec: unknown, report: Report): spec is CompiledBinding['spec'] {
  return typeof spec === 'object' && !report.failed;
}

/** The canonical origin, or nothing when it has a fault. */
function checkDestination(node: SpecNode, kind: string | undefined): string | undefined {
  const written = node.at('origin');
  const transport = node.maybe('transport')?.choice(['TLS', 'Plaintext']) ?? 'TLS';
  const parsed = parseOrigin(written.text());
  for (const fault of parsed.faults)
    written.problem(fault.code === 'url-scheme' ? 'binding-origin' : fault.code, fault.message, { cure: fault.cure });
  const { origin } = parsed;
  for (const prefix of node.at('pathPrefixes').list()) checkPathPrefix(prefix);
  for (const range of node.at('addresses').list()) checkRange(range);
  for (const method of node.at('methods').list()) method.choice(METHODS);
  const ca = node.maybe('ca');
  if (ca !== undefined) checkKeyName(ca.at('key'));
  if (kind !== undefined && (kind === 'awsSigV4') !== node.at('signing').present) {
    node.at('signing').problem('binding-signing', 'signing and awsSigV4 belong together.');
  }
  if (origin === undefined) return undefined;
  checkTransport(node, origin, transport);
  if (kind !== undefined && !goesTo(kind, origin)) {
    written.problem('binding-kind', `A ${kind} credential does not go to ${origin.text}.`);
  }
  if (origin.address !== undefined) checkLiteralAddress(node, origin.address);
  return origin.text;
}

/** A key opens an SSH connection and nothing else; a certificate is shown in a TLS handshake. */
function goesTo(kind: string, { scheme }: Origin): boolean {
  if (kind === 'sshKey') return scheme === 'ssh';
  return scheme === 'https' || (scheme === 'http' && kind !== 'clientCertificate');
}

/** The address is known now, so what the sidecar would refuse on every call is refused here. */
function checkLiteralAddress(node: SpecNode, address: Address): void {
  const kind = addressKind(address);
  if (
    kind === 'public' ||
    node
      .at('addresses')
      .list()
      .some((each) => holds(plainText(each.value), address))
  )
    return;
  const cure =
    kind === 'loopback'
      ? 'Name the address in addresses, and start the sidecar with --allow-loopback; or use the name of the service.'
      : 'Name its range in addresses.';
  node.at('origin').problem('binding-origin', `${address.toString()} is ${kind}, and addresses does not name it.`, { cure });
}

function holds(range: string, address: Address): boolean {
  const [network = '', length = ''] = range.split('/');
  if (!ipaddr.isValid(network)) return false;
  const start = ipaddr.parse(network);
  return start.kind() === address.kind() && address.match(start, length === '' ? (start.kind() === 'ipv4' ? 32 : 128) : Number(length));
}

function checkTransport(node: SpecNode, origin: Origin, transport: string): void {
  if (origin.scheme === 'http' && transport !== 'Plaintext')
    node.at('origin').problem('url-plaintext', 'http:// sends the credential in clear, and transport does not say Plaintext.');
  else if (origin.scheme === 'http' && origin.address === undefined)
    node.at('origin').problem('url-plaintext', 'Plaintext goes to a literal address only: a name can be made to point elsewhere.');
  if (origin.scheme !== 'http' && transport === 'Plaintext')
    node.at('transport').problem('binding-transport', `${origin.scheme}:// is not plaintext.`);
  const keys = node.at('hostKeys');
  if (origin.scheme === 'ssh' && keys.list().length === 0) keys.problem('binding-host-keys', 'No host key is pinned.');
  if (origin.scheme !== 'ssh' && keys.present)
    keys.problem('binding-host-keys', 'Host keys belong to ssh://.', { cure: 'Drop hostKeys, or use ca.' });
}

function checkPathPrefix(node: SpecNode): void {
  const prefix = node.text();
  const body = prefix.endsWith('*') ? prefix.slice(0, -1) : prefix;
  if (
    prefix !== '' &&
    (!/^\/(?:[A-Za-z0-9\-._~!$&'()+,;=:@]+\/)*[A-Za-z0-9\-._~!$&'()+,;=:@]*$/.test(body) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(body))
  ) {
    node.problem('binding-path-prefix', `${JSON.stringify(prefix)} is not a path prefix.`);
  }
}

/** CIDR in canonical form: bits beyond the prefix are zero, so that the text says which addresses are meant. */
function checkRange(node: SpecNode): void {
  const text = node.text();
  if (text === '') return;
  try {
    const single = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
    const [address, length] = ipaddr.parseCIDR(single);
    const network = address.kind() === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(single) : ipaddr.IPv6.networkAddressFromCIDR(single);
    if (`${network.toString()}/${length}` !== single)
      node.problem('binding-address', `${JSON.stringify(text)} is not in canonical form (${network.toString()}/${length}).`);
    if (length === 0) node.problem('binding-address', 'A range of every address vets nothing.');
  } catch {
    // ipaddr.js throws on what is no CIDR range; its text is not repeated.
    node.problem('binding-address', `${JSON.stringify(text)} is not a CIDR range.`);
  }
}

/** What concerns several parts of the binding. */
function checkTogether(spec: SpecNode, origins: readonly (string | undefined)[]): void {
  const nodes = spec.at('destinations').list();
  for (const [index, origin] of origins.entries()) {
    if (origin !== undefined && origins.indexOf(origin) < index)
      nodes[index]?.at('origin').problem('duplicate-name', `${origin} stands twice.`);
  }
  checkTokenPlace(spec.at('use').at('oauth2ClientCredentials').at('tokenUrl'), 'tokenUrl', origins);
  const app = spec.at('use').at('githubApp');
  if (app.present) checkTokenPlace(app.at('apiUrl'), 'apiUrl', origins, GITHUB_API_URL);
}

/** What buys a token goes to a destination of the owner too; `unless`: the place where the binding names none. */
function checkTokenPlace(node: SpecNode, name: string, origins: readonly (string | undefined)[], unless?: string): void {
  const url = node.present ? node.value : unless;
  if (typeof url === 'string' && !origins.includes(originOf(url))) {
    node.problem('binding-destination', `The origin of ${name}, ${originOf(url)}, is none of the destinations.`, {
      cure: 'Add its origin to destinations.',
    });
  }
}

function originOf(url: string): string {
  return /^[^/?#]*:\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}
