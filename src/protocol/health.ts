import { z } from 'zod';

/** Whether one dependency answers, and after how many milliseconds. */
export const dependency = z.object({ ok: z.boolean(), ms: z.number() });

export type DependencyHealth = Readonly<z.infer<typeof dependency>>;

/** The reply of GET /readyz (docs/contract.md, section 2.7). */
export const readiness = z.object({ ready: z.boolean(), dependencies: z.record(z.string(), dependency) });
