/**
 * The address of the sources that this build was made from, without a slash at the end; undefined where nobody named it. The build puts the
 * variable's value here.
 */
export const repository: string | undefined = process.env['SWITCHBOARD_REPOSITORY'];
