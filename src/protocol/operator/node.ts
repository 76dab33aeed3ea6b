import { z } from 'zod';
import { nodeId, version } from '../fields.ts';
import { count, instant, inUnit } from '../values.ts';
import { asOf } from './page.ts';

const measured = z.number().min(0).meta(inUnit('milliseconds', 4.1));

/** The state of one dependency, as a process sees it. */
export const dependencyState = z.object({
  name: z.enum(['database', 'registry', 'mail', 'provider', 'collector']).meta({
    description:
      'The dependency. `registry` is the live store: Redis, or the memory of the process; `collector` receives traces, if any are sent',
  }),
  state: z.enum(['ok', 'away']).meta({ description: 'Whether it works' }),
  latencyMs: measured
    .nullable()
    .meta({ description: 'How long its last answer took; null if only its faults are observed' }),
  since: instant.meta({ description: 'When it entered this state, or when the process started' }),
  lastError: z
    .string()
    .nullable()
    .meta({
      description: 'The kind of the last fault; null if there was none',
      examples: ['ECONNREFUSED'],
    }),
});

export type DependencyState = z.infer<typeof dependencyState>;

/** A process of the installation, as it describes itself every five seconds (docs/contract.md, section 8). */
export const operatorNode = z.object({
  id: nodeId.meta({ description: 'The id of the process' }),
  host: z.string().meta({ description: 'The name of the host', examples: ['voice-2'] }),
  pid: z
    .int()
    .min(0)
    .meta({ description: 'The process id on the host', ...inUnit('none', 4211) }),
  version,
  startedAt: instant.meta({ description: 'When it started' }),
  seenAt: instant.meta({ description: 'When it last reported its state' }),
  loopP99Ms: measured.meta({ description: 'The 99th percentile of the event loop’s delay over five seconds' }),
  rss: z
    .int()
    .min(0)
    .meta({ description: 'The memory in use (resident set size)', ...inUnit('bytes', 220_200_960) }),
  sockets: count.meta({ description: 'Open sockets' }),
  historyWaiting: count.meta({ description: 'Changes of sessions waiting to be written to the history' }),
  eventsWaiting: count.meta({ description: 'Events waiting to be written to the journal' }),
  eventsDropped: count.meta({ description: 'Events dropped for lack of room since it started' }),
  clockLeadMs: z
    .number()
    .optional()
    .meta({
      ...inUnit('milliseconds', 0),
      description:
        'How far its clock is ahead of the live store’s, whose clock was set; absent for a process of an older version',
    }),
  configHash: z.string().meta({
    description: 'A keyed hash of its settings, which differs between processes with different settings',
    examples: ['9c3b6e5f0a1d'],
  }),
  dependencies: z.array(dependencyState).meta({ description: 'Its dependencies, as it observes them' }),
});

export type OperatorNode = z.infer<typeof operatorNode>;

export const operatorNodes = z.object({
  nodes: z.array(operatorNode).meta({ description: 'The processes, in the order in which they started' }),
  differs: z.array(z.string()).meta({
    description: 'Variables whose values differ between processes',
    examples: [['MAX_SESSION_MINUTES']],
  }),
  asOf,
});
