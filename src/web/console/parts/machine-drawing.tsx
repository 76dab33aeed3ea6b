import { Drawing } from '../chart/drawing.tsx';
import { momentOf } from '../chart/moment.ts';
import { titleOf, UTC } from '../chart/words.ts';
import { useMachine } from '../data/machines.ts';

interface Props {
  readonly machine: string;
  readonly title: string;
}

/** The chart of a machine whose events are not kept, and so with nothing lit in it; nothing while the machine is not known. */
export function MachineDrawing({ machine: id, title }: Props) {
  const machine = useMachine(id);
  if (machine === undefined) return null;
  const { charts, words } = machine;
  const chart = charts.down;
  return (
    <details>
      <summary>{title}</summary>
      <figure class="chart" data-machine={id}>
        <Drawing
          {...{ chart, words, zone: UTC, moment: momentOf(chart, '', [], null), next: undefined }}
          sentence={`State chart of the ${titleOf(id)}.`}
        />
      </figure>
    </details>
  );
}
