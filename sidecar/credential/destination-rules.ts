/**
 * Where a binding lets its credential go: origin, method, path prefix by whole segments. Read from the request that will be
 * sent, not from the template it came from.
 */
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { BindingDestination } from '#core/contract/compiled-binding.ts';

export type FindDestination = (request: OutboundRequest) => BindingDestination | undefined;

/** The first destination that allows a request; `undefined`: the credential may not go there. */
export function destinationFinder(destinations: readonly BindingDestination[]): FindDestination {
  const rules = destinations.map((destination) => ({
    destination,
    methods: destination.methods === undefined ? undefined : new Set<string>(destination.methods),
    prefixes: destination.pathPrefixes?.map(prefixTest),
  }));
  return (request) => {
    const path = pathOf(request.target);
    for (const { destination, methods, prefixes } of rules) {
      if (destination.origin !== request.origin) continue;
      if (methods !== undefined && !methods.has(request.method)) continue;
      if (prefixes === undefined || prefixes.some((test) => test(path))) return destination;
    }
    return undefined;
  };
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}

/** `/a/b` and `/a/b/`: that path and everything below; `/a/b*`: also `/a/bc` and below. */
function prefixTest(prefix: string): (path: string) => boolean {
  if (prefix.endsWith('*')) {
    const start = prefix.slice(0, -1);
    return (path) => path.startsWith(start);
  }
  const whole = prefix.replace(/\/$/, '');
  return (path) => path === whole || path.startsWith(`${whole}/`);
}
