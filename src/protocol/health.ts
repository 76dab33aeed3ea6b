import { z } from 'zod';
import { inUnit } from './values.ts';

/** Whether one dependency answers, and how long it took in milliseconds. */
export const dependency = z.object({
  ok: z.boolean().meta({ description: 'Whether it answers, accepts writes and serves real requests' }),
  ms: z.number().meta({ description: 'How long it took to answer', ...inUnit('milliseconds', 1) }),
});

export type DependencyHealth = Readonly<z.infer<typeof dependency>>;

/** The reply of GET /readyz (docs/contract.md, section 2.7). */
export const readiness = z.object({
  ready: z.boolean().meta({ description: 'Whether all dependencies are healthy and the process is not draining' }),
  dependencies: z.record(z.string(), dependency).meta({ description: 'The dependencies, by name' }),
});
