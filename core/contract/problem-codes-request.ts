/**
 * Problems of targets, requests and slots.
 */

export const REQUEST_CODES = {
  'slot-malformed': {
    severity: 'error',
    what: 'A slot is not $(root.name) or $(root.name|format).',
    cure: 'Write $(root.name); a literal $( is written $$(.',
  },
  'slot-unknown-root': {
    severity: 'error',
    what: 'A slot starts with a word that is no root.',
    cure: 'Start with args, resolve, next, open, source, each, operation, limits, budget or constants.',
  },
  'slot-unknown-name': { severity: 'error', what: 'A slot names something that does not exist.', cure: 'Name something that is declared.' },
  'slot-unknown-format': { severity: 'error', what: 'A format that does not exist.', cure: 'Use one of the formats listed.' },
  'slot-root-here': { severity: 'error', what: 'This root has no value in this place.', cure: 'Use a root that exists here.' },
  'slot-optional': {
    severity: 'error',
    what: 'An optional argument stands where its absence cannot drop a whole parameter or member.',
    cure: 'Make the argument required, or give it a parameter of its own.',
  },
  'slot-format-type': {
    severity: 'error',
    what: 'The format does not fit the type of the value.',
    cure: 'Use a format for this type, or change the argument.',
  },
  'slot-type': {
    severity: 'error',
    what: 'A value of this type cannot stand in this place.',
    cure: 'Use a text or a number; lists need |csv or a query parameter of their own.',
  },
  'slot-not-inert': {
    severity: 'error',
    what: 'A text that is not provably inert stands inside other text, where it could change its meaning.',
    cure: 'Use an enum with resolve, a quoting format, or a place of its own.',
  },
  'slot-free-text': {
    severity: 'error',
    what: 'Free text stands in a path, a header or an argument vector.',
    cure: 'Use free text only as a whole value of a body, or quoted by a format.',
  },
  'slot-value': {
    severity: 'error',
    what: 'A fixed value is not legal where its slot stands.',
    cure: 'Change the value in resolve, constants or sources.',
  },
  'slot-unset': { severity: 'error', what: 'A slot names a limit the contract does not set.', cure: 'Set it in completeness.limits.' },
  'url-scheme': {
    severity: 'error',
    what: 'The URL does not start with https:// (or http:// for plaintext).',
    cure: 'Write https://host/path.',
  },
  'url-plaintext': {
    severity: 'error',
    what: 'Plaintext without the opt-in of the binding, or to a name instead of an address (failure case HTTP-X1).',
    cure: 'Use https, or transport: Plaintext and a literal address in the binding.',
  },
  'url-host-slot': {
    severity: 'error',
    what: 'The host of a URL is a slot; the destination must be fixed.',
    cure: 'Write the host out; use sources with an origin for several.',
  },
  'url-host-not-canonical': {
    severity: 'error',
    what: 'The host is not in its canonical form, so two readers may reach two hosts (failure case HTTP-25).',
    cure: 'Write the canonical form shown.',
  },
  'url-host-trailing-dot': {
    severity: 'error',
    what: 'A trailing dot makes a second name for the same host (failure case HTTP-26).',
    cure: 'Drop the dot.',
  },
  'url-host-zone': {
    severity: 'error',
    what: 'A zone id names an interface of one machine (failure case HTTP-26).',
    cure: 'Use an address without a zone.',
  },
  'url-host-forbidden': {
    severity: 'error',
    what: 'The address is one nothing may call: unspecified, multicast, link-local, reserved, a metadata service, or one that carries another inside.',
    cure: 'Use the address of the service.',
  },
  'url-userinfo': {
    severity: 'error',
    what: 'A URL with user name or password puts a credential into status and logs (failure case HTTP-X2).',
    cure: 'Put the credential into a binding.',
  },
  'url-query': { severity: 'error', what: 'The URL has a query.', cure: 'Move it to http.query.' },
  'url-fragment': { severity: 'error', what: 'The URL has a fragment, which is never sent.', cure: 'Drop it.' },
  'url-character': {
    severity: 'error',
    what: 'The URL has a character that must not stand in it.',
    cure: 'Put the text into constants and use a slot; the slot encodes it.',
  },
  'url-dot-segment': {
    severity: 'error',
    what: 'A path segment is . or .., or an encoded form of them (failure cases HTTP-27, HTTP-28).',
    cure: 'Write the path that is meant.',
  },
  'url-empty-segment': { severity: 'error', what: 'A path has an empty segment.', cure: 'Drop the extra /.' },
  'url-partial-segment': {
    severity: 'error',
    what: 'A slot is a part of a path segment.',
    cure: 'Make the segment one slot, with the whole text in resolve.',
  },
  'url-whole-path-slot': {
    severity: 'error',
    what: 'The agent chooses the whole path (failure case HTTP-05).',
    cure: 'Fix the beginning of the path.',
  },
  'url-spread': {
    severity: 'error',
    what: 'A spread slot has no fixed segment before it, or stands where there are no path segments.',
    cure: 'Put it after fixed segments of the path.',
  },
  'call-anything': {
    severity: 'error',
    what: 'More of the path is free text than is fixed: this is no named action but a way to call anything.',
    cure: 'Give the arguments an enum or a pattern, or write one contract per action.',
  },
  'method-fixed': {
    severity: 'error',
    what: 'The method is not one of the known methods (failure case HTTP-X3).',
    cure: 'Write GET, HEAD, POST, PUT, PATCH or DELETE.',
  },
  'method-read-only': {
    severity: 'error',
    what: "A Read with another method than GET or HEAD, or over SSH, needs the owner's word.",
    cure: 'Add readOnlyBecause.',
  },
  'query-name': {
    severity: 'error',
    what: "A query parameter's name is empty, has a slot or a control character.",
    cure: 'Write the name out.',
  },
  'header-name': {
    severity: 'error',
    what: 'A header name is not a token of RFC 9110, or has a slot (failure case HTTP-06).',
    cure: 'Write the name out, in letters, digits and hyphens.',
  },
  'header-reserved': {
    severity: 'error',
    what: 'The header belongs to the transport, the credential or the body (failure case HTTP-06).',
    cure: 'Drop it; Postern sets what the transport needs.',
  },
  'header-credential': { severity: 'error', what: 'The header is the one the credential is put into.', cure: 'Drop it.' },
  'header-value': {
    severity: 'error',
    what: 'A header value has a character that must not stand in it.',
    cure: 'Use visible ASCII characters.',
  },
  'body-not-allowed': {
    severity: 'error',
    what: 'GET and HEAD have no body.',
    cure: 'Move the values to the query, or change the method.',
  },
  'body-content-type': { severity: 'error', what: 'Not a media type.', cure: 'Write type/subtype, such as application/json.' },
  'body-text': {
    severity: 'error',
    what: 'A text body takes only constants and inert slots.',
    cure: "Use json or form for the agent's values.",
  },
  'body-name': { severity: 'error', what: 'A member name of the body has a slot.', cure: 'Write the name out.' },
  'resolve-argument': {
    severity: 'error',
    what: 'resolve names something that is not a text argument with an enum.',
    cure: 'Give the argument an enum.',
  },
  'resolve-labels': {
    severity: 'error',
    what: 'The labels of a resolve table are not exactly the values of the enum.',
    cure: 'Give every value of the enum one entry.',
  },
  'resolve-members': {
    severity: 'error',
    what: 'The labels of one table do not all have the same members.',
    cure: 'Give every label the same members.',
  },
  'open-values': {
    severity: 'error',
    what: 'http.open gives no values, or a slot uses $(open) without http.open.',
    cure: 'Name the values open gives.',
  },
  'ssh-host': {
    severity: 'error',
    what: 'The host is not fixed: a literal, or a slot whose every value resolves to a fixed host.',
    cure: 'Use a literal or resolve.',
  },
  'ssh-argv': {
    severity: 'error',
    what: 'The argument vector starts with a slot, a relative shell or a wrapper that runs other text.',
    cure: 'Start with a literal program that does the job itself.',
  },
  'source-values': {
    severity: 'error',
    what: 'The sources do not all give the same values.',
    cure: 'Give every source the same members in values.',
  },
  'source-select': {
    severity: 'error',
    what: 'sources.select names no list argument whose labels are names of sources.',
    cure: 'Give the argument items with an enum of the source names.',
  },
  'source-origin': {
    severity: 'error',
    what: 'The origin of a source is not canonical.',
    cure: 'Write https://host or https://host:port.',
  },
  'for-each': {
    severity: 'error',
    what: 'forEach does not name a list argument of at most 100 elements.',
    cure: 'Name a list argument with maxItems of at most 100.',
  },
  'callers-empty': { severity: 'error', what: 'Nobody may call this action.', cure: 'List at least one serviceAccount.' },
} as const;
