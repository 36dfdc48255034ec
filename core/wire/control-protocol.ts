/** What the versions of proto/postern/control/v1/control.proto brought, as both ends of the stream must agree on. */

/** From this version on a stream carries effects. */
export const EFFECTS_SINCE = 2;

/** And from this one on its audit. */
export const AUDIT_SINCE = 3;
