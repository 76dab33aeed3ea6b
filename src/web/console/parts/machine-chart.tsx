import { StateChart } from '../chart/chart.tsx';
import { useMachine } from '../data/machines.ts';
import { zone } from '../data/preferences.ts';
import { now } from '../data/server-time.ts';
import type { OperatorEvent } from '../data/shapes.ts';
import { clockText, zoneText } from '../words/format.ts';

interface Props {
  readonly machine: string;
  readonly state: string;
  /** Newest first. */
  readonly events: readonly OperatorEvent[];
  /** The event at which the page stands; undefined is now. */
  readonly at: string | undefined;
  /** When the clock alone moves it next, and to which state. */
  readonly deadline: { readonly at: string; readonly to: string } | null;
}

/** What an actor did, in the chart of its machine; nothing while the machine is not known. */
export function MachineChart({ machine: id, state, events, at, deadline }: Props) {
  const machine = useMachine(id);
  if (machine === undefined) return null;
  const told = { name: zoneText(now.value, zone.value), timeOf: (atMs: number) => clockText(atMs, zone.value) };
  const { charts, words } = machine;
  return (
    <section aria-label="Its machine">
      <StateChart
        {...{ machine: id, chart: charts, words, state, events, at: at ?? null, now: now.value, deadline, zone: told }}
      />
    </section>
  );
}
