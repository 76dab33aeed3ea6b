import type { Chart, ChartNode } from '../../../protocol/operator/machine.ts';

/** The node of an innermost state. */
export function nodeNamed({ nodes }: Chart, state: string): ChartNode | undefined {
  return nodes.find(({ name, kind }) => name === state && kind !== 'group');
}
