import manifest from '../package.json' with { type: 'json' };

/** The version of this build: the package's. */
export const { version } = manifest;
