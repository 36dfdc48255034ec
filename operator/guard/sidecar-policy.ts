/**
 * The one policy the operator owns: an init container `postern` is the sidecar of an allowed release (sidecar-release.ts), and its
 * volumes are the sidecar's. The chart cannot ship it, because the pin in the arguments is the key of a CA that the operator makes.
 *
 * Only CREATE: a running sidecar never changes at all, which the fixed policy `postern-reserved` sees to.
 */
import { ANNOTATION, RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { SIDECAR_VOLUMES } from '#operator/pod/sidecar-volumes.ts';
import { celLiteral } from './cel-text.ts';
import { HAS_SIDECAR } from './pod-cel.ts';
import { enforcedNamespaces, type Guard, type GuardSettings, guard, type NamedExpression } from './policy.ts';
import { type AllowedRelease, CREDENTIALS_MODE } from './sidecar-release.ts';

export const SIDECAR_POLICY = 'postern-sidecar';

export const SAYS_SIDECAR = {
  container: `is not the sidecar of a release that runs here; another webhook changed it, or it was written by hand. It differs in`,
  volume: `is not what the operator makes it; another webhook changed it, or it was written by hand.`,
  size: `no size class of that name`,
} as const;

const SIZE = celLiteral(ANNOTATION.size);

/** Pure: equal releases, equal text. At least one release. */
export function sidecarPolicy(settings: GuardSettings, releases: readonly AllowedRelease[]): Guard {
  if (releases.length === 0) throw new TypeError('a policy without a release would refuse every sidecar');
  const sizes = [...new Set(releases.flatMap((release) => Object.keys(release.sizes)))];
  const reserved = celLiteral(RESERVED_PREFIX);
  return guard({
    name: SIDECAR_POLICY,
    about: 'An init container postern is the sidecar of an allowed release, and its volumes are those of the sidecar.',
    // Elsewhere postern-reserved refuses every such volume.
    namespaces: enforcedNamespaces(settings),
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    // In an enforced namespace, whatever has an init container of that name has such volumes, or postern-pod refuses it.
    matchConditions: [
      { name: 'has-a-sidecar', expression: HAS_SIDECAR },
      {
        name: 'has-reserved-volumes',
        expression: `has(object.spec.volumes) && object.spec.volumes.exists(v, v.name.startsWith(${reserved}))`,
      },
    ],
    variables: variables(releases),
    validations: [
      {
        expression: 'variables.isSidecar',
        // Evaluated for every pod, also for those that pass: so it begins with the cheap question.
        messageExpression:
          `variables.isSidecar ? '' : ${celLiteral(`container ${SIDECAR.container}: ${SAYS_SIDECAR.container} `)} + ` +
          `variables.differences.filter(d, variables.differences.all(e, d.size() <= e.size()))[0].join(', ') + '.'`,
      },
      {
        expression: 'variables.oddVolumes.size() == 0',
        messageExpression: `'volume ' + variables.oddVolumes[0].name + ${celLiteral(`: ${SAYS_SIDECAR.volume}`)}`,
      },
      {
        expression: `object.metadata.?annotations[?${SIZE}].orValue(${celLiteral(sizes[0])}) in ${celLiteral(sizes)}`,
        message: `annotation ${ANNOTATION.size}: ${SAYS_SIDECAR.size}; there are ${sizes.join(', ')}.`,
      },
    ],
  });
}

function variables(releases: readonly AllowedRelease[]): readonly NamedExpression[] {
  const literals = releases.map(({ container, sizes }) => celLiteral({ container, resources: Object.values(sizes) }));
  const volumes = celLiteral(releases.flatMap((release) => release.volumes));
  const sidecar = 'variables.sidecar';
  // See sameResources in sidecar-release.ts: the two MUST say the same.
  const resources =
    `r.resources.exists(z, ${sidecar}.resources.all(l, l in z) && z.all(l, l in ${sidecar}.resources && ` +
    `z[l].all(q, q in ${sidecar}.resources[l] && ${sidecar}.resources[l][q] == z[l][q]) && ` +
    `${sidecar}.resources[l].all(q, q in z[l] || !q.contains('/'))))`;
  const same =
    `f == 'resources' ? ${resources} : ` +
    `f == 'securityContext' ? (variables.security.all(s, s == 'runAsUser' ? variables.security[s] != 0 : ` +
    `(s in r.container.securityContext && variables.security[s] == r.container.securityContext[s])) && r.container.securityContext.all(s, s in variables.security)) : ` +
    `(f in r.container && ${sidecar}[f] == r.container[f])`;
  return [
    { name: 'sidecar', expression: `object.spec.initContainers.filter(c, c.name == ${celLiteral(SIDECAR.container)})[0]` },
    { name: 'security', expression: `${sidecar}.?securityContext.orValue({})` },
    { name: 'releases', expression: `[${literals.join(', ')}]` },
    {
      name: 'differences',
      expression: `variables.releases.map(r, (r.container.map(f, f) + ['resources']).filter(f, !(f in ${sidecar})) + ${sidecar}.map(f, f).filter(f, !(${same})))`,
    },
    {
      name: 'isSidecar',
      expression: `variables.releases.exists(r, ${sidecar}.all(f, ${same}) && 'resources' in ${sidecar} && r.container.all(f, f in ${sidecar}))`,
    },
    {
      name: 'oddVolumes',
      expression: `object.spec.volumes.filter(v, v.name in ${celLiteral(SIDECAR_VOLUMES)} && !(${volumeCel(volumes)}))`,
    },
  ];
}

/** Whether the volume `v` is what a release makes it. */
function volumeCel(literals: string): string {
  const projected = `{'sources': v.projected.sources, 'defaultMode': dyn(${CREDENTIALS_MODE})}`;
  const secret = `{'name': s.secret.name, 'optional': dyn(true), 'items': s.secret.items}`;
  const source =
    `has(s.secret) && s == {'secret': s.secret} && has(s.secret.items) && s.secret == ${secret} && s.secret.name.startsWith(${celLiteral(RESERVED_PREFIX)}) && ` +
    `s.secret.items.all(i, i == {'key': i.key, 'path': dyn(s.secret.name + '/' + i.key)})`;
  const credentials =
    `has(v.projected) && has(v.projected.sources) && v == {'name': v.name, 'projected': dyn(${projected})} && ` +
    `(v.projected.sources == null || v.projected.sources.all(s, ${source}))`;
  return `v.name == ${celLiteral(SIDECAR.credentialsVolume)} ? (${credentials}) : v in ${literals}`;
}
