import * as fc from 'fast-check';

/**
 * Uses the same random examples in every run, so that only the tested code decides the outcome. `npm run campaign -- properties` tries
 * others.
 */
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });
