import { z } from 'zod';
import { nodeId, version } from '../fields.ts';
import { count, instant, inUnit } from '../values.ts';
import { asOf } from './page.ts';

const measured = z.number().min(0).meta(inUnit('milliseconds', 4.1));

/** How a process finds what it stands on. */
export const dependencyState = z.object({
  name: z.enum(['database', 'registry', 'mail', 'provider', 'collector']).meta({
    description:
      'Which one; `registry` is the live store: Redis, or the memory of the process; `collector` gets traces, where they are sent',
  }),
  state: z.enum(['ok', 'away']).meta({ description: 'Whether it does its work' }),
  latencyMs: measured
    .nullable()
    .meta({ description: 'How long its last answer took; null where only its faults are seen' }),
  since: instant.meta({ description: 'Since when it is in this state, or since when the process runs' }),
  lastError: z
    .string()
    .nullable()
    .meta({
      description: 'What kind of fault the last one was; null where there was none',
      examples: ['ECONNREFUSED'],
    }),
});

export type DependencyState = z.infer<typeof dependencyState>;

/** A process of the installation, as it tells of itself every five seconds (docs/contract.md, section 8). */
export const operatorNode = z.object({
  id: nodeId.meta({ description: 'The id of the process' }),
  host: z.string().meta({ description: 'The machine on which it runs', examples: ['voice-2'] }),
  pid: z
    .int()
    .min(0)
    .meta({ description: 'Its process id there', ...inUnit('none', 4211) }),
  version,
  startedAt: instant.meta({ description: 'When it started' }),
  seenAt: instant.meta({ description: 'When it told of itself last' }),
  loopP99Ms: measured.meta({ description: 'The 99th percentile of how late its event loop was, within five seconds' }),
  rss: z
    .int()
    .min(0)
    .meta({ description: 'The memory that it takes', ...inUnit('bytes', 220_200_960) }),
  sockets: count.meta({ description: 'Sockets that are open at it' }),
  historyWaiting: count.meta({ description: 'Changes of sessions that wait to be written to the history' }),
  eventsWaiting: count.meta({ description: 'Events that wait to be written to the journal' }),
  eventsDropped: count.meta({ description: 'Events that found no room since it started' }),
  clockLeadMs: z
    .number()
    .optional()
    .meta({
      ...inUnit('milliseconds', 0),
      description:
        "By how much its time is ahead of the live store's own, which was set; a process of an older version tells none",
    }),
  configHash: z.string().meta({
    description: 'A keyed hash of its settings: processes that are set otherwise have another',
    examples: ['9c3b6e5f0a1d'],
  }),
  dependencies: z.array(dependencyState).meta({ description: 'What it stands on, as it finds it' }),
});

export type OperatorNode = z.infer<typeof operatorNode>;

export const operatorNodes = z.object({
  nodes: z.array(operatorNode).meta({ description: 'The processes, in the order in which they started' }),
  differs: z.array(z.string()).meta({
    description: 'Variables that not all of them have the same value of',
    examples: [['MAX_SESSION_MINUTES']],
  }),
  asOf,
});
