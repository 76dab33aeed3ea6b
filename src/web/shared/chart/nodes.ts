import type { Chart, ChartNode } from '../../../protocol/operator/machine.ts';

/** The node of the atomic state with this name. */
export function nodeNamed({ nodes }: Chart, state: string): ChartNode | undefined {
  return nodes.find(({ name, kind }) => name === state && kind !== 'group');
}
