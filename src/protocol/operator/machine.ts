import { z } from 'zod';
import { inUnit } from '../values.ts';

const pixels = z.number().meta(inUnit('pixels', 240));

const point = {
  x: pixels.meta({ description: 'How far it is from the left' }),
  y: pixels.meta({ description: 'How far it is from the top' }),
};
const size = {
  width: pixels.meta({ description: 'How wide it is' }),
  height: pixels.meta({ description: 'How high it is' }),
};
const box = { ...point, ...size };
const path = z.string().meta({ description: 'The path of the state', examples: ['live.engaged'] });

/** By the paths of states, as the steps of an event have them. */
const transition = z.object({
  event: z.string().meta({
    description: 'The event that it takes; empty where it follows from the transition before',
    examples: ['HEARTBEAT'],
  }),
  guard: z
    .string()
    .nullable()
    .meta({ description: 'The guard that must let it pass; null where none is asked', examples: ['isBeforeDeadline'] }),
  from: path.meta({ description: 'The path of the state that it leaves' }),
  to: path.meta({ description: 'The path of the state that it enters' }),
});

/** A drawing of a machine. */
export const chart = z.object({
  ...size,
  nodes: z
    .array(
      z.object({
        ...box,
        id: path,
        name: z.string().meta({ description: 'The name of the state', examples: ['engaged'] }),
        kind: z
          .enum(['start', 'state', 'group', 'final'])
          .meta({ description: '`start`: before its first event. `group`: states are in it' }),
        loops: z.array(transition).meta({ description: 'Transitions that stay in it' }),
      }),
    )
    .meta({ description: 'The states, as boxes' }),
  edges: z
    .array(
      z.object({
        from: path.meta({ description: 'The path of the state where it begins' }),
        to: path.meta({ description: 'The path of the state where it ends' }),
        points: z.array(z.object(point)).meta({ description: 'The points of its line' }),
        label: z.object(box).nullable().meta({ description: 'The box of its label; null where it has none' }),
        lines: z
          .array(z.string())
          .meta({ description: 'The events and guards that its label names', examples: [['heartbeat']] }),
        transitions: z.array(transition).meta({ description: 'The transitions that it stands for' }),
      }),
    )
    .meta({ description: 'One for all transitions from one state to another' }),
});

export type Chart = z.infer<typeof chart>;
export type ChartNode = Chart['nodes'][number];
export type ChartEdge = Chart['edges'][number];
export type ChartTransition = z.infer<typeof transition>;

/** A drawing for wide pages, which goes to the right, and one for narrow ones, which goes down. */
export const charts = z.object({
  right: chart.meta({ description: 'A drawing for wide pages, which goes to the right' }),
  down: chart.meta({ description: 'A drawing for narrow pages, which goes down' }),
});

export type Charts = z.infer<typeof charts>;

/** The rules of one kind of actor, and how to show them (docs/contract.md, section 8). */
const operatorMachine = z.object({
  id: z.string().meta({ description: 'The name of the machine', examples: ['voice-session'] }),
  version: z.string().meta({ description: 'Changes with the definition', examples: ['4f1c0e8b7d2a'] }),
  definition: z
    .record(z.string(), z.unknown())
    .meta({ description: 'The machine as XState takes it', examples: [{ id: 'voice-session', initial: 'live' }] }),
  charts: charts.meta({ description: 'Drawings of it' }),
  words: z.record(z.string(), z.string()).meta({
    description: 'Each event and guard in at most 16 characters, with the limits of this installation',
    examples: [{ HEARTBEAT: 'heartbeat', isPastDuration: '15 min over' }],
  }),
});

export const operatorMachines = z.object({
  machines: z.array(operatorMachine).meta({ description: 'The machines, each with its rules' }),
});

export type OperatorMachine = z.infer<typeof operatorMachine>;
