import { z } from 'zod';
import { number, string } from '../fields.ts';

const pixels = number('pixels', 240);

const point = { x: pixels.describe('Distance from the left'), y: pixels.describe('Distance from the top') };
const size = { width: pixels.describe('Width'), height: pixels.describe('Height') };
const box = { ...point, ...size };
const path = string('The path of the state', 'live.engaged');

/** States are named by their paths, as in the steps of an event. */
const transition = z.object({
  event: string('The event of the transition; empty if it follows from the previous one', 'HEARTBEAT'),
  guard: string('The guard that must allow it; null if there is none', 'isBeforeDeadline').nullable(),
  from: path.describe('The path of the state that is left'),
  to: path.describe('The path of the state that is entered'),
});

/** A drawing of a machine. */
export const chart = z.object({
  ...size,
  nodes: z
    .array(
      z.object({
        ...box,
        id: path,
        name: string('The name of the state', 'engaged'),
        kind: z
          .enum(['start', 'state', 'group', 'final'])
          .describe('`start`: the point before the first event. `group`: a state that contains states'),
        loops: z.array(transition).describe('Transitions that stay in the state'),
      }),
    )
    .describe('The states, as boxes'),
  edges: z
    .array(
      z.object({
        from: path.describe('The path of the state from which it starts'),
        to: path.describe('The path of the state to which it leads'),
        points: z.array(z.object(point)).describe('The points of its line'),
        label: z.object(box).nullable().describe('The box of its label; null if it has none'),
        lines: z
          .array(z.string())
          .meta({ description: 'The lines of its label: events and guards', examples: [['heartbeat']] }),
        transitions: z.array(transition).describe('The transitions that it represents'),
      }),
    )
    .describe('The edges, each for all transitions from one state to another'),
});

export type Chart = z.infer<typeof chart>;
export type ChartNode = Chart['nodes'][number];
export type ChartEdge = Chart['edges'][number];
export type ChartTransition = z.infer<typeof transition>;

/** Two drawings: one that runs to the right for wide pages, one that runs down for narrow pages. */
export const charts = z.object({
  right: chart.describe('A drawing for wide pages, from left to right'),
  down: chart.describe('A drawing for narrow pages, from top to bottom'),
});

export type Charts = z.infer<typeof charts>;

/** The rules of one kind of actor, and how to draw them (docs/contract.md, section 8). */
const operatorMachine = z.object({
  id: string('The name of the machine', 'voice-session'),
  version: string('A version that changes with the definition', '4f1c0e8b7d2a'),
  definition: z
    .record(z.string(), z.unknown())
    .meta({ description: 'The machine in XState’s format', examples: [{ id: 'voice-session', initial: 'live' }] }),
  charts: charts.describe('Drawings of the machine'),
  words: z.record(z.string(), z.string()).meta({
    description: 'A label of at most 16 characters for each event and guard, with the limits of this installation',
    examples: [{ HEARTBEAT: 'heartbeat', isPastDuration: '15 min over' }],
  }),
});

export const operatorMachines = z.object({ machines: z.array(operatorMachine).describe('The machines') });

export type OperatorMachine = z.infer<typeof operatorMachine>;
