import { z } from 'zod';
import { number } from './fields.ts';

/** Whether one dependency answers, and how long it took in milliseconds. */
export const dependency = z.object({
  ok: z.boolean().describe('Whether it answers, accepts writes and serves real requests'),
  ms: number('milliseconds', 1, 'How long it took to answer'),
});

export type DependencyHealth = Readonly<z.infer<typeof dependency>>;

/** The reply of GET /readyz (docs/contract.md, section 2.7). */
export const readiness = z.object({
  ready: z.boolean().describe('Whether all dependencies are healthy and the process is not draining'),
  dependencies: z.record(z.string(), dependency).describe('The dependencies, by name'),
});

export type Readiness = Readonly<z.infer<typeof readiness>>;
