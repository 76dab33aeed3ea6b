import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };

/** The version of this build, from package.json. */
export const { version } = manifest;

/**
 * The address of the sources that this build was made from, without a trailing slash; undefined if it was not given. The build replaces the
 * variable with its value.
 */
export const repository: string | undefined = process.env['SWITCHBOARD_REPOSITORY'];

const HERE = 'config/tenants.json';
/** This path is beside this file in the sources, and beside dist/ for the bundle. */
const shipped = fileURLToPath(new URL('../config/tenants.json', import.meta.url));

/** The tenants file if TENANTS_FILE is not set: the one in the working directory, or else the demo's, which is shipped. */
export function defaultTenantsFile(): string {
  return existsSync(HERE) || !existsSync(shipped) ? HERE : shipped;
}
