/**
 * What the contract may use, against what the owners of the credentials grant: every binding is listed, grants its use to this contract,
 * and every request the contract can ever make stays inside of a destination.
 *
 * A binding that is not there yet is no error: a contract must not depend on the order objects are applied in.
 */

import { limits } from '#core/bounds/limits.ts';
import { isObject, memberOf } from '#core/completeness/path.ts';
import { compileBinding } from './binding.ts';
import { checkHops } from './check-hops.ts';
import { requestsOf } from './compile-target.ts';
import type { CompletenessRules, HttpTarget, JsonValue, RequestTemplate, SshTarget } from './compiled.ts';
import type { CompiledBinding } from './compiled-binding.ts';
import type { Draft } from './draft.ts';
import { nearestName } from './nearest.ts';
import { type Allowed, coversPath, type Labels, type Tables } from './path-cover.ts';
import { plainText } from './plain-text.ts';
import type { ResourceObject } from './resource-object.ts';
import type { ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';
import { sshOrigin } from './ssh-origin.ts';
import { literalText } from './template-text.ts';

export interface Grants {
  /** Why the contract cannot be called yet. */
  readonly notReady: readonly string[];
  /** By name, for the revision. */
  readonly digests: Readonly<Record<string, string>>;
}

type Target = HttpTarget | SshTarget;

/** What of the contract decides where a credential goes. */
interface Parts {
  readonly target: Target;
  readonly sources: CompletenessRules['sources'];
  readonly arguments: ArgumentsSchema;
}

/** A credential with the label of `resolve`, or the source, it is used for. */
interface Use {
  readonly binding: string;
  readonly labels: Labels;
  readonly node: SpecNode;
  readonly origin?: string;
}

export function checkGrants(draft: Draft, parts: Parts, bindings: readonly ResourceObject[]): Grants {
  const { target } = parts;
  const listed = draft.spec
    .at('credentials')
    .list()
    .map((name) => name.text());
  if (listed.length > limits.contractCredentialsMax)
    draft.spec
      .at('credentials')
      .problem('binding-too-many', `${listed.length} credentials are listed; ${limits.contractCredentialsMax} are allowed.`);
  const uses = usesOf(draft, target, parts.sources);
  for (const use of uses) {
    if (use.binding !== '' && !listed.includes(use.binding)) {
      use.node.problem('binding-unlisted', `${JSON.stringify(use.binding)} is not in spec.credentials.`, {
        nearest: nearestName(use.binding, listed),
      });
    }
  }
  const grants = checkEach(draft, parts, uses, bindings);
  const hops = checkHops(draft, { target, uses: uses.map(({ binding }) => binding), bindings: grants.bindings });
  // What a binding that is not there goes through is not known, so any other one may be it.
  const isKnown = [...uses.map(({ binding }) => binding), ...hops.names].every((name) => grants.bindings.has(name));
  for (const node of draft.spec.at('credentials').list()) {
    const name = node.text();
    const isTarget = uses.some(({ binding }) => binding === name);
    const mayBeHop = !isKnown && target.kind === 'ssh' && grants.bindings.has(name);
    // Going through a host is not to act on it: a hop's owner may grant it to no contract at all.
    const isHop = !isTarget && (hops.names.has(name) || mayBeHop);
    const binding = grants.bindings.get(name);
    if (binding !== undefined && !isHop && !binding.spec.contracts.includes(draft.object.name))
      node.problem('binding-not-granted', `${name} grants its use to other contracts only.`);
    if (!isTarget && !isHop) node.problem('binding-unused', `${JSON.stringify(node.value)} is used by nothing.`);
  }
  return { digests: grants.digests, notReady: [...grants.notReady, ...hops.notReady] };
}

interface Checked extends Grants {
  readonly bindings: ReadonlyMap<string, CompiledBinding>;
}

function checkEach(draft: Draft, parts: Parts, uses: readonly Use[], bindings: readonly ResourceObject[]): Checked {
  const notReady: string[] = [];
  const digests: Record<string, string> = Object.create(null);
  const found = new Map<string, CompiledBinding>();
  for (const node of draft.spec.at('credentials').list()) {
    const name = node.text();
    const object = bindings.find((each) => each.name === name && each.namespace === draft.object.namespace);
    if (object === undefined) {
      notReady.push(`The binding ${name} is not there.`);
      continue;
    }
    const compiled = compileBinding(object);
    if (compiled.binding === undefined) {
      notReady.push(`The binding ${name} has problems of its own.`);
      continue;
    }
    digests[name] = compiled.digest;
    found.set(name, compiled.binding);
    const { binding } = compiled;
    if (binding.spec.suspended !== undefined) notReady.push(`The binding ${name} is suspended by its owner.`);
    for (const use of uses.filter((each) => each.binding === name)) checkUse(draft, parts, use, binding);
  }
  return { notReady, digests, bindings: found };
}

function usesOf(draft: Draft, target: Target, sources: CompletenessRules['sources']): readonly Use[] {
  const node = draft.spec.at(target.kind).at('credential');
  const main = target.kind === 'ssh' ? [{ binding: target.credential, labels: {}, node }] : httpUses(draft, target, node);
  const list = draft.spec.at('completeness').at('sources').at('list').list();
  if (sources === undefined) return main;
  return sources.list.flatMap((source, index) => {
    const place = list[index] ?? node;
    const labels = { ' source': source.name };
    const origin = source.origin === undefined ? {} : { origin: source.origin };
    if (source.credential !== undefined) return [{ binding: source.credential, labels, node: place.at('credential'), ...origin }];
    return main.map((use) => ({ ...use, labels: { ...use.labels, ...labels }, ...origin }));
  });
}

/** A literal name, or one use for each label that resolves to a binding. */
function httpUses(draft: Draft, target: HttpTarget, node: SpecNode): readonly Use[] {
  const literal = literalText(target.credential);
  if (literal !== undefined) return [{ binding: literal, labels: {}, node }];
  const [slot] = target.credential;
  if (target.credential.length > 1 || typeof slot !== 'object' || slot.root !== 'resolve') {
    node.problem('slot-root-here', 'A credential is a literal name or one $(resolve.argument.member).');
    return [];
  }
  const [argument = '', member = ''] = slot.path;
  return draft.spec
    .at('resolve')
    .at(argument)
    .entries()
    .map(([label, members]) => {
      const held = members.at(member);
      if (held.present && typeof held.value !== 'string') held.problem('slot-value', 'A credential is the name of a binding.');
      return { binding: typeof held.value === 'string' ? held.value : '', labels: { [argument]: label }, node: held };
    });
}

function checkUse(draft: Draft, parts: Parts, use: Use, binding: CompiledBinding): void {
  const { target } = parts;
  const isSsh = Object.hasOwn(binding.spec.use, 'sshKey');
  if (isSsh !== (target.kind === 'ssh'))
    use.node.problem('binding-kind', `The credential of ${binding.name} does not fit an ${target.kind} target.`);
  else if (target.kind === 'ssh') checkHost(draft, target, binding);
  else for (const [path, request] of requestsOf(target)) checkRequest(draft, { path, request, use, binding, arguments: parts.arguments });
}

function checkHost(draft: Draft, target: SshTarget, binding: CompiledBinding): void {
  const node = draft.spec.at('ssh').at('host');
  const origins = binding.spec.destinations.map((destination) => destination.origin);
  for (const host of hostsOf(draft, target)) {
    const origin = sshOrigin(host);
    if (!origins.includes(origin)) node.problem('binding-destination', `${origin} is no destination of ${binding.name}.`);
  }
}

function hostsOf(draft: Draft, target: SshTarget): readonly string[] {
  const literal = literalText(target.host);
  const [slot] = target.host;
  if (literal !== undefined || typeof slot !== 'object') return literal === undefined ? [] : [literal];
  const [argument = '', member = ''] = slot.path;
  return draft.spec
    .at('resolve')
    .at(argument)
    .entries()
    .map(([, members]) => plainText(members.at(member).value));
}

interface RequestUse {
  readonly path: readonly string[];
  readonly request: RequestTemplate;
  readonly use: Use;
  readonly binding: CompiledBinding;
  readonly arguments: ArgumentsSchema;
}

function checkRequest(draft: Draft, { path, request, use, binding, arguments: args }: RequestUse): void {
  const origin = use.origin ?? request.origin;
  const header = binding.spec.use.header?.name.toLowerCase();
  // `x_api_key` is `x-api-key` to servers behind CGI: which of the two would count is not ours to guess.
  const clash = request.headers.find(([name]) => header !== undefined && hyphened(name) === hyphened(header))?.[0];
  if (clash !== undefined) {
    draft.report.add([...path, 'headers', clash], 'header-credential', `The binding ${binding.name} puts its credential into ${header}.`);
  }
  if (origin === '') return;
  const problem = (field: string, message: string) => draft.report.add([...path, field], 'binding-destination', message);
  const there = binding.spec.destinations.filter((destination) => destination.origin === origin);
  if (there.length === 0) {
    problem('url', `${origin} is no destination of ${binding.name}.`);
    return;
  }
  const methods = there.filter(
    (destination) => destination.methods === undefined || destination.methods.some((method) => method === request.method),
  );
  if (methods.length === 0) {
    problem('method', `${binding.name} does not let ${request.method} go to ${origin}.`);
    return;
  }
  const allowed: readonly Allowed[] = methods.map((destination) => destination.pathPrefixes ?? ['/']);
  const prefixes = allowed.flat();
  const escaped = coversPath(request.segments, prefixes, tablesOf(draft, args), use.labels);
  if (escaped !== undefined) problem('url', `The path ${escaped} leaves the path prefixes of ${binding.name} at ${origin}.`);
  if (path.length > 2) return;
  for (const node of draft.spec.at('completeness').at('paging').at('follow').at('paths').list()) {
    const segments = plainText(node.value)
      .split('/')
      .slice(1)
      .map((segment) => [segment]);
    if (coversPath(segments, prefixes, tablesOf(draft, args), use.labels) !== undefined) {
      node.problem('binding-destination', `The followed path leaves the path prefixes of ${binding.name} at ${origin}.`);
    }
  }
}

function hyphened(name: string): string {
  return name.replaceAll('_', '-');
}

/** The fixed values by argument and label; sources are one more table. */
function tablesOf(draft: Draft, args: ArgumentsSchema): Tables {
  const resolve = draft.spec.at('resolve').object();
  const sources = draft.spec.at('completeness').at('sources').at('list').list();
  const byName: Record<string, JsonValue> = Object.create(null);
  for (const source of sources) byName[plainText(source.at('name').value)] = source.at('values').value ?? {};
  return {
    labels: (argument) => Object.keys(tableOf(resolve, byName, argument)),
    value: (argument, label, member) => {
      const members = memberOf(tableOf(resolve, byName, argument), label);
      const value = isObject(members) ? memberOf(members, member) : undefined;
      return value === undefined ? undefined : plainText(value);
    },
    enumOf: (argument) => {
      const schema = Object.hasOwn(args.properties, argument) ? args.properties[argument] : undefined;
      return schema?.type === 'string' ? schema.enum : undefined;
    },
    constant: (name) => {
      const value = memberOf(draft.spec.at('constants').object(), name);
      return value === undefined ? undefined : plainText(value);
    },
  };
}

function tableOf(
  resolve: { readonly [name: string]: JsonValue },
  sources: { readonly [name: string]: JsonValue },
  argument: string,
): { readonly [name: string]: JsonValue } {
  if (argument === ' source') return sources;
  const table = memberOf(resolve, argument);
  return isObject(table) ? table : {};
}
