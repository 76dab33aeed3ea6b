import { z } from 'zod';
import { nodeId, version, count, instant, integer, number, string } from '../fields.ts';
import { asOf } from './pagination.ts';

const measured = number('milliseconds', 4.1).min(0);

/** The state of one dependency, as a process sees it. */
export const dependencyState = z.object({
  name: z
    .enum(['database', 'registry', 'mail', 'provider', 'collector'])
    .describe(
      'The dependency. `registry` is the live store: Redis, or the memory of the process; `collector` receives traces, if any are sent',
    ),
  state: z.enum(['ok', 'away']).describe('Whether it works'),
  latencyMs: measured.nullable().describe('How long its last answer took; null if only its faults are observed'),
  since: instant.describe('When it entered this state, or when the process started'),
  lastError: string('The kind of the last fault; null if there was none', 'ECONNREFUSED').nullable(),
});

export type DependencyState = z.infer<typeof dependencyState>;

/** A process of the installation, as it describes itself every five seconds (docs/contract.md, section 8). */
export const operatorNode = z.object({
  id: nodeId.describe('The id of the process'),
  host: string('The name of the host', 'voice-2'),
  pid: integer('none', 4211, 'The process id on the host').min(0),
  version,
  startedAt: instant.describe('When it started'),
  seenAt: instant.describe('When it last reported its state'),
  loopP99Ms: measured.describe('The 99th percentile of the event loop’s delay over five seconds'),
  rss: integer('bytes', 220_200_960, 'The memory in use (resident set size)').min(0),
  sockets: count.describe('Open sockets'),
  historyWaiting: count.describe('Changes of sessions waiting to be written to the history'),
  eventsWaiting: count.describe('Events waiting to be written to the journal'),
  eventsDropped: count.describe('Events dropped for lack of room since it started'),
  clockLeadMs: number(
    'milliseconds',
    0,
    'How far its clock is ahead of the live store’s, whose clock was set; absent for a process of an older version',
  ).optional(),
  configHash: string(
    'A keyed hash of its settings, which differs between processes with different settings',
    '9c3b6e5f0a1d',
  ),
  dependencies: z.array(dependencyState).describe('Its dependencies, as it observes them'),
});

export type OperatorNode = z.infer<typeof operatorNode>;

export const operatorNodes = z.object({
  nodes: z.array(operatorNode).describe('The processes, in the order in which they started'),
  differs: z.array(z.string()).meta({
    description: 'Variables whose values differ between processes',
    examples: [['MAX_SESSION_MINUTES']],
  }),
  asOf,
});
