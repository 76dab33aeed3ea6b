import { z } from 'zod';
import { count } from '../values.ts';

const measured = z.number().min(0);

/** How a process finds what it stands on. */
export const dependencyState = z.object({
  name: z.enum(['database', 'registry', 'mail', 'provider']),
  state: z.enum(['ok', 'away']),
  latencyMs: measured.nullable().meta({ description: 'Of the last answer; null where only its faults are seen' }),
  since: z.iso.datetime().meta({ description: 'Since when it is in this state, or since when the process runs' }),
  lastError: z.string().nullable().meta({ description: 'What kind of fault the last one was' }),
});

export type DependencyState = z.infer<typeof dependencyState>;

/** A process of the installation, as it tells of itself every five seconds (docs/contract.md, section 8). */
export const operatorNode = z.object({
  id: z.string(),
  host: z.string(),
  pid: count,
  version: z.string(),
  startedAt: z.iso.datetime(),
  seenAt: z.iso.datetime(),
  loopP99Ms: measured.meta({ description: 'The 99th percentile of how late its event loop was, within five seconds' }),
  rss: count.meta({ description: 'Bytes of memory' }),
  sockets: count,
  historyWaiting: count,
  eventsWaiting: count,
  eventsDropped: count.meta({ description: 'Since it started' }),
  clockLeadMs: z.number().optional().meta({
    description:
      "By how much its time is ahead of the live store's own, which was set; a process of an older version tells none",
  }),
  configHash: z
    .string()
    .meta({ description: 'A keyed hash of its settings: processes that are set otherwise have another' }),
  dependencies: z.array(dependencyState),
});

export type OperatorNode = z.infer<typeof operatorNode>;

export const operatorNodes = z.object({
  nodes: z.array(operatorNode),
  differs: z.array(z.string()).meta({ description: 'Variables that not all of them have the same value of' }),
  asOf: z.iso.datetime(),
});
