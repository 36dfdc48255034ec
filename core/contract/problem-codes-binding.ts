/**
 * Problems of credential bindings and of what a contract asks of them.
 */

export const BINDING_CODES = {
  'binding-secret-name': {
    severity: 'error',
    what: "The Secret is not named postern-*; the name is the owner's consent.",
    cure: 'Name the Secret postern-….',
  },
  'binding-use': {
    severity: 'error',
    what: 'use does not have exactly one kind of credential, or the kind lacks a key.',
    cure: 'Write one kind with all its keys.',
  },
  'binding-key-name': { severity: 'error', what: 'Not a key of a Secret.', cure: 'Use letters, digits, -, _ and . only.' },
  'binding-origin': {
    severity: 'error',
    what: 'The origin is not a canonical literal origin.',
    cure: 'Write https://host[:port], ssh://host:port, or http://ADDRESS:port with transport: Plaintext.',
  },
  'binding-address': {
    severity: 'error',
    what: 'Not a CIDR range in canonical form.',
    cure: 'Write an address and a prefix length, such as 10.20.0.0/16.',
  },
  'binding-path-prefix': {
    severity: 'error',
    what: 'Not a path prefix.',
    cure: 'Start with /; a trailing * matches inside the last segment.',
  },
  'binding-host-keys': {
    severity: 'error',
    what: 'An ssh destination pins no host key (failure case SSH-01).',
    cure: 'Add hostKeys: ["SHA256:…"].',
  },
  'binding-signing': {
    severity: 'error',
    what: 'signing and awsSigV4 belong together.',
    cure: 'Give each destination signing: {service, region}.',
  },
  'binding-transport': { severity: 'error', what: 'transport does not fit the origin.', cure: 'Use Plaintext with http:// only.' },
  'binding-too-many': { severity: 'error', what: 'More than eight credentials.', cure: 'Split the contract.' },
  'binding-unlisted': { severity: 'error', what: 'The contract uses a binding it does not list in spec.credentials.', cure: 'List it.' },
  'binding-not-granted': {
    severity: 'error',
    what: 'The binding does not grant its use to this contract; its owner decides.',
    cure: 'Ask the owner to add the contract to spec.contracts.',
  },
  'binding-destination': {
    severity: 'error',
    what: "The request leaves the binding's destinations: origin, method or path prefix.",
    cure: 'Ask the owner for a destination, or change the request.',
  },
  'binding-kind': {
    severity: 'error',
    what: 'The credential does not fit the target.',
    cure: 'Use an sshKey for ssh and any other kind for http.',
  },
  'binding-unused': { severity: 'warning', what: 'A listed credential is used by nothing.', cure: 'Drop it from spec.credentials.' },
  'binding-hop': {
    severity: 'error',
    what: 'A hop (via) is not one host reached by an sshKey, or there are too many of them.',
    cure: 'Name a binding with sshKey and one destination; at most two hops.',
  },
} as const;
