import { z } from 'zod';

const box = { x: z.number(), y: z.number(), width: z.number(), height: z.number() };

/** By the paths of states, as the steps of an event have them. */
const transition = z.object({
  event: z.string().meta({ description: 'Empty where it follows from the transition before' }),
  guard: z.string().nullable(),
  from: z.string(),
  to: z.string(),
});

const chart = z.object({
  width: z.number(),
  height: z.number(),
  nodes: z.array(
    z.object({
      ...box,
      id: z.string().meta({ description: 'The path of the state' }),
      name: z.string(),
      kind: z
        .enum(['start', 'state', 'group', 'final'])
        .meta({ description: '`start`: before its first event. `group`: states are in it' }),
      loops: z.array(transition).meta({ description: 'Transitions that stay in it' }),
    }),
  ),
  edges: z
    .array(
      z.object({
        from: z.string(),
        to: z.string(),
        points: z.array(z.object({ x: z.number(), y: z.number() })),
        label: z.object(box).nullable(),
        lines: z.array(z.string()).meta({ description: 'The events and guards that its label names' }),
        transitions: z.array(transition),
      }),
    )
    .meta({ description: 'One for all transitions from one state to another' }),
});

export type Chart = z.infer<typeof chart>;
export type ChartNode = Chart['nodes'][number];
export type ChartEdge = Chart['edges'][number];
export type ChartTransition = z.infer<typeof transition>;

/** A drawing for wide pages, which goes to the right, and one for narrow ones, which goes down. */
export const charts = z.object({ right: chart, down: chart });

export type Charts = z.infer<typeof charts>;

/** The rules of one kind of actor, and how to show them (docs/contract.md, section 8). */
const operatorMachine = z.object({
  id: z.string(),
  version: z.string().meta({ description: 'Changes with the definition' }),
  definition: z.record(z.string(), z.unknown()).meta({ description: 'As XState takes it' }),
  charts,
  words: z
    .record(z.string(), z.string())
    .meta({ description: 'Each event and guard in at most 16 characters, with the limits of this installation' }),
});

export const operatorMachines = z.object({ machines: z.array(operatorMachine) });

export type OperatorMachine = z.infer<typeof operatorMachine>;
