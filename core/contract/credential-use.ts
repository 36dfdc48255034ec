/** `use`: how a credential is attached. Exactly one kind; every field ending in Key names a key of the Secret, never its content. */
import { parseOrigin } from './destination.ts';
import { isHeaderName, isHeaderText, reservedBecause } from './header-rules.ts';
import type { SpecNode } from './spec-node.ts';

export const USE_KINDS = [
  'bearer',
  'header',
  'basic',
  'oauth2ClientCredentials',
  'awsSigV4',
  'githubApp',
  'clientCertificate',
  'sshKey',
] as const;
/** Where the token of a GitHub App is fetched, unless the binding names another place. */
export const GITHUB_API_URL = 'https://api.github.com';

export type UseKind = (typeof USE_KINDS)[number];

/** The one kind, or nothing when there is none or more than one. */
export function checkCredentialUse(node: SpecNode): UseKind | undefined {
  const kinds = USE_KINDS.filter((kind) => node.at(kind).present);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    node.problem('binding-use', kind === undefined ? 'use names no kind of credential.' : `use names ${kinds.join(' and ')}.`);
    return undefined;
  }
  const use = node.at(kind);
  for (const [name, held] of use.entries()) {
    if (name === 'key' || name.endsWith('Key')) checkKeyName(held);
  }
  if (kind === 'header') checkHeader(use);
  if (kind === 'oauth2ClientCredentials') checkTokenUrl(use.at('tokenUrl'));
  if (kind === 'githubApp' && use.at('apiUrl').present) checkTokenUrl(use.at('apiUrl'));
  return kind;
}

export function checkKeyName(node: SpecNode): void {
  const key = node.text();
  if (key !== '' && (!/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === '.' || key === '..')) {
    node.problem('binding-key-name', `${JSON.stringify(key)} is no key of a Secret.`);
  }
}

/** `authorization` and `cookie` are the binding's to set; what frames the message is nobody's. */
function checkHeader(node: SpecNode): void {
  const written = node.at('name');
  const name = written.text().toLowerCase();
  const reserved = name === 'authorization' || name === 'cookie' ? undefined : reservedBecause(name);
  if (name !== '' && !isHeaderName(name)) written.problem('header-name', `${JSON.stringify(name)} is not a header name.`);
  else if (reserved !== undefined) written.problem('header-reserved', `The header ${name} ${reserved}.`);
  const prefix = node.maybeText('prefix');
  if (prefix !== undefined && !isHeaderText(`${prefix}x`))
    node.at('prefix').problem('header-value', 'The prefix has a character that is not visible ASCII.');
}

function checkTokenUrl(node: SpecNode): void {
  const url = node.text();
  const origin = /^[^/?#]*:\/\/[^/?#]*/.exec(url)?.[0] ?? url;
  const parsed = parseOrigin(origin);
  for (const fault of parsed.faults) node.problem(fault.code, fault.message, { cure: fault.cure });
  if (parsed.origin !== undefined && parsed.origin.scheme !== 'https')
    node.problem('url-scheme', 'What a token is bought with is sent to https:// only.');
  if (/[?#\s\\]|\$\(/.test(url)) node.problem('url-character', 'The token URL has a query, a fragment, a slot or white space.');
}
