import { z } from 'zod';

/** What bodies and frames have in common: `true` of a success, instants, texts with a bound. */
export const ok = z.literal(true);

/** A reply that says no more than that it is done. */
export const done = z.object({ ok });

export const instant = z.iso.datetime().meta({ description: 'ISO 8601, UTC' });

/** A text that is not empty. */
export const text = (max: number): z.ZodString => z.string().min(1).max(max);

export const count = z.int().min(0);
