/**
 * Problems of files, names, shapes and the argument schema.
 */

export const STRUCTURE_CODES = {
  'yaml-syntax': { severity: 'error', what: 'The text is not YAML 1.2.', cure: 'Mend the line named; a YAML 1.2 editor shows the place.' },
  'yaml-anchor': {
    severity: 'error',
    what: 'Anchors and aliases make one text stand in two places, and an alias can grow without bound (failure case JSON-24).',
    cure: 'Write the value out in each place.',
  },
  'yaml-merge-key': { severity: 'error', what: 'The merge key `<<` is not part of YAML 1.2.', cure: 'Write the members out.' },
  'yaml-tag': {
    severity: 'error',
    what: 'Tags such as `!!binary` or `!Custom` change what a value is.',
    cure: 'Drop the tag; quote the value if it must be text.',
  },
  'yaml-duplicate-key': {
    severity: 'error',
    what: 'A key stands twice in one map; which one counts would depend on the reader.',
    cure: 'Keep one of them.',
  },
  'yaml-key': {
    severity: 'error',
    what: 'A key is not text, or is a name no object may have.',
    cure: 'Quote the key, or choose another name.',
  },
  'yaml-number': {
    severity: 'error',
    what: 'A number is not finite or is beyond 2^53, so it cannot be kept exactly.',
    cure: 'Quote it if it is an identifier.',
  },
  'yaml-too-large': {
    severity: 'error',
    what: 'The file is larger, deeper or has more documents than a contract file may.',
    cure: 'Split the file.',
  },
  'yaml-reads-differently': {
    severity: 'warning',
    what: 'YAML 1.1 readers, kubectl among them, read this value as a boolean or another number; here it is text or the number shown.',
    cure: 'Quote it if text is meant.',
  },
  'object-shape': {
    severity: 'error',
    what: 'The document is not an object with apiVersion, kind, metadata and spec.',
    cure: 'Start with apiVersion: postern.dev/v1alpha1, kind, metadata.name and spec.',
  },
  'object-unknown-kind': {
    severity: 'error',
    what: 'The kind is none of Postern.',
    cure: 'Write one of ActionContract, CredentialBinding, ContractPreset, ContractTest.',
  },
  'object-duplicate': {
    severity: 'error',
    what: 'Two objects of one kind have the same name, so which one counts would depend on their order.',
    cure: 'Rename or drop one of them.',
  },
  'text-ill-formed': {
    severity: 'error',
    what: 'A text or name holds half of a surrogate pair, which no encoding can carry (failure case JSON-09).',
    cure: 'Write the whole character.',
  },
  'unknown-field': {
    severity: 'error',
    what: 'A field that does not exist; it would be ignored, and a misspelled rule is no rule.',
    cure: 'Correct or drop the field.',
  },
  'missing-field': { severity: 'error', what: 'A required field is not there.', cure: 'Add the field.' },
  'wrong-type': { severity: 'error', what: 'A value has another type than the field.', cure: 'Write a value of the type named.' },
  'unknown-value': { severity: 'error', what: 'A value is none of those the field may have.', cure: 'Write one of the values named.' },
  'out-of-range': { severity: 'error', what: 'A number, text or list is outside of its bounds.', cure: 'Stay inside the bounds named.' },
  'exactly-one': { severity: 'error', what: 'Of several fields exactly one must be there.', cure: 'Keep one of them.' },
  'duplicate-name': { severity: 'error', what: 'Two entries of one list have the same name.', cure: 'Rename or drop one of them.' },
  'bad-name': {
    severity: 'error',
    what: 'A name has characters or a length names may not have.',
    cure: 'Use lower-case letters, digits and hyphens, at most 63.',
  },
  'bad-duration': { severity: 'error', what: 'Not a duration.', cure: 'Write digits and one of ms, s, m, h, such as 20s.' },
  'bad-size': { severity: 'error', what: 'Not a size.', cure: 'Write digits and one of Ki, Mi, Gi, or plain bytes, such as 8Mi.' },
  'bad-date': { severity: 'error', what: 'Not a day of the calendar.', cure: 'Write "YYYY-MM-DD" in quotes.' },
  'bad-path': {
    severity: 'error',
    what: 'Not a path of the contract language.',
    cure: 'Write a JSON Pointer such as /items/0/name; / alone is the whole document.',
  },
  'bad-expression': {
    severity: 'error',
    what: 'Not a CEL expression the language allows.',
    cure: 'Mend the expression at the place named.',
  },
  'action-name': { severity: 'error', what: 'The action is not metadata.name with _ for -.', cure: 'Write the name shown.' },
  'schema-not-object': {
    severity: 'error',
    what: 'Arguments are not an object schema.',
    cure: 'Start with type: object, additionalProperties: false, properties.',
  },
  'schema-open-object': {
    severity: 'error',
    what: 'An object schema is open: members nobody declared would pass (failure case JSON-16).',
    cure: 'Add additionalProperties: false.',
  },
  'schema-unknown-keyword': {
    severity: 'error',
    what: 'A keyword outside of the closed dialect; ignoring it would drop a rule (failure cases JSON-17, JSON-18, JSON-20, JSON-21).',
    cure: 'Use only the keywords of the dialect.',
  },
  'schema-unknown-format': {
    severity: 'error',
    what: 'A format Postern does not check (failure case JSON-19).',
    cure: 'Use date, date-time or uuid, or a pattern.',
  },
  'schema-unbounded': { severity: 'error', what: 'A text or list has no upper bound.', cure: 'Add maxLength or maxItems.' },
  'schema-bounds': {
    severity: 'error',
    what: 'Bounds contradict each other or exceed the limit of the dialect.',
    cure: 'Mend the bounds.',
  },
  'schema-pattern-unanchored': {
    severity: 'error',
    what: 'A pattern that is not anchored at both ends accepts any text around it (failure case JSON-15).',
    cure: 'Start the pattern with ^ and end it with $.',
  },
  'schema-pattern': {
    severity: 'error',
    what: 'A pattern outside of the linear RE2 dialect: it could take exponential time (failure case JSON-14).',
    cure: 'Write it in RE2 syntax, without back-references and look-around.',
  },
  'schema-pattern-nested': {
    severity: 'error',
    what: 'A pattern repeats a repetition; its text says nothing a single repetition would not.',
    cure: 'Write one repetition, such as ^a+$ for ^(a+)+$.',
  },
  'schema-unique-items': {
    severity: 'error',
    what: 'uniqueItems on objects or lists costs quadratic time (failure case JSON-22).',
    cure: 'Use uniqueItems on lists of texts, numbers or booleans only.',
  },
  'schema-enum': {
    severity: 'error',
    what: 'An enum is empty, repeats a value, is too long or has values of another type.',
    cure: 'List different values of the declared type.',
  },
  'schema-required': {
    severity: 'error',
    what: 'required names a property that is not declared.',
    cure: 'Declare the property or drop the name.',
  },
  'schema-reserved-name': {
    severity: 'error',
    what: 'No argument may be called url, headers, command, credential or like a member every object has: such a name asks for what a contract must fix.',
    cure: 'Choose another name.',
  },
  'schema-text': {
    severity: 'error',
    what: 'x-postern-text is not {render, mentions, lines} on a text.',
    cure: 'Write x-postern-text: {render: plain, lines: 5} on a string.',
  },
  'preset-unknown': {
    severity: 'error',
    what: 'The preset does not exist, or is not among the presets given.',
    cure: 'Name an existing preset.',
  },
  'preset-base': {
    severity: 'error',
    what: 'A base preset has a base itself; presets inherit once.',
    cure: 'Base the preset on one that has no base.',
  },
  'preset-field': {
    severity: 'error',
    what: 'A preset may only hold base, http.headers, http.query, http.body, result and completeness.',
    cure: 'Move the field into the contracts.',
  },
  'preset-without': {
    severity: 'error',
    what: 'without names a rule the preset does not have, or gives no reason.',
    cure: 'Name a rule of the preset and say why it is dropped.',
  },
  'preset-weakened': {
    severity: 'warning',
    what: 'A rule of the preset is dropped or replaced; what the preset vouches for no longer holds in full.',
    cure: 'Keep the rule, or have the reason reviewed.',
  },
} as const;
