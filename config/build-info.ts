import manifest from '../package.json' with { type: 'json' };

/** The version of this build, from package.json. */
export const { version } = manifest;

/**
 * The address of the sources that this build was made from, without a trailing slash; undefined if it was not given. The build replaces the
 * variable with its value.
 */
export const repository: string | undefined = process.env['SWITCHBOARD_REPOSITORY'];
