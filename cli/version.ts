import manifest from '#package.json' with { type: 'json' };
/** The version of package.json; there is no other. */
export const VERSION: string = manifest.version;
