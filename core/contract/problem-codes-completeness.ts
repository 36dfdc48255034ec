/**
 * Problems of results and completeness.
 */

export const COMPLETENESS_CODES = {
  'result-shape': {
    severity: 'error',
    what: 'A result has items and object, or a list has no items.',
    cure: 'Write items for a list, object for a single value.',
  },
  'result-fields': {
    severity: 'error',
    what: 'Neither fields nor allFields says what may leave.',
    cure: 'List the fields, or write allFields with a because.',
  },
  'result-lines': { severity: 'error', what: 'lines belongs to the Lines decoder.', cure: 'Set decoder: Lines, or drop lines.' },
  'result-aggregate': {
    severity: 'error',
    what: 'An aggregate other than Count needs a path, and lists only.',
    cure: 'Add the path of the number.',
  },
  'paging-missing': {
    severity: 'error',
    what: 'A list does not say how its remote pages.',
    cure: 'Write paging.next, follow or counter, or mode: SingleResponse.',
  },
  'paging-end': { severity: 'error', what: 'Nothing says what ends the walk.', cure: 'Write paging.end.' },
  'paging-conflict': { severity: 'error', what: 'Parts of paging contradict each other.', cure: 'Keep one way to the next page.' },
  'paging-unused': {
    severity: 'error',
    what: 'A part of paging is never sent back, so every page would be the first one.',
    cure: 'Use $(next.NAME) in the request.',
  },
  'paging-follow': { severity: 'error', what: 'A followed path is not a fixed path.', cure: 'Write the path out, starting with /.' },
  'consistency-basis': {
    severity: 'error',
    what: 'The consistency mode lacks what it is checked by.',
    cure: 'Add what the mode needs: equal, http.open, order or because.',
  },
  'total-unknown': { severity: 'error', what: 'A name of a total that does not exist.', cure: 'Name a total of completeness.totals.' },
  'warning-unknown': {
    severity: 'error',
    what: 'A rule raises a warning the contract does not declare; every warning has an owner and an expiry.',
    cure: 'Declare it in spec.warnings.',
  },
  'warning-unused': { severity: 'warning', what: 'A declared warning is raised by no rule.', cure: 'Drop it.' },
  'warning-expiry': {
    severity: 'warning',
    what: 'A warning expires in more than a year.',
    cure: 'Set an earlier day; renewing it is the moment somebody looks.',
  },
  'warning-expired': {
    severity: 'warning',
    what: 'A warning has expired; it forbids evidence until renewed or removed.',
    cure: 'Renew or remove it.',
  },
  'field-unknown': { severity: 'error', what: 'A name of a field that does not exist.', cure: 'Name a field of result.fields.' },
  'argument-unknown': { severity: 'error', what: 'A name of an argument that does not exist.', cure: 'Name an argument.' },
  'reach-empty': { severity: 'error', what: 'reach says nothing.', cure: 'Set total, offset, pageSize or items.' },
  'job-pending': {
    severity: 'warning',
    what: 'job without an outcome Pending, or the other way round.',
    cure: 'Write both, or neither.',
  },
  'limit-ceiling': { severity: 'error', what: 'A limit is beyond the ceiling of the sidecar.', cure: 'Lower it.' },
  'table-entry': {
    severity: 'error',
    what: 'A table entry needs match or prefix, and exactly one of reason, warning, ignore.',
    cure: 'Write {match: text, reason: CODE}.',
  },
  'best-partial': {
    severity: 'warning',
    what: 'No answer of this contract can be complete.',
    cure: 'Say so to its users, or add what is missing.',
  },
} as const;
