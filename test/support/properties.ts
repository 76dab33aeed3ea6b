import * as fc from 'fast-check';

/**
 * The same random examples in every run, so that the outcome of a run is decided by what it tests. `npm run campaign -- properties` looks
 * for others.
 */
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });
