import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ReadMore } from '../data/api.ts';
import type { OperatorEvent } from '../data/shapes.ts';
import { stateAt } from '../data/timeline.ts';
import { MachineChart } from './machine-chart.tsx';
import { Moment } from './moments.tsx';
import { StateOrWord } from './state-mark.tsx';
import { Timeline } from './timeline.tsx';
import { useSteps } from './use-steps.ts';

const nothing: ReadMore = () => Promise.resolve(undefined);

interface Props {
  readonly machine: string;
  /** The address of the page, at now. */
  readonly page: string;
  readonly state: string;
  readonly events: readonly OperatorEvent[];
  readonly deadline: { readonly at: string; readonly to: string } | null;
  /** Whether there are events before those, and what reads them. */
  readonly hasMore?: boolean;
  readonly more?: ReadMore;
  /** Shown at the side. */
  readonly children: ComponentChildren;
}

/** What a machine did, in its chart and in a list, now or stepped back. */
export function History({ machine, page, state, events, deadline, hasMore = false, more = nothing, children }: Props) {
  const { at, step, here } = useSteps(page, events);
  // An address may name an event that is further back than what was read.
  useEffect(() => {
    if (at !== undefined && here === undefined && hasMore) void more();
  }, [at, here, hasMore, events.length]);
  return (
    <>
      {here !== undefined && (
        <p class="stepped">
          <span>
            Seen as it was at <Moment at={here.at} hasMs />:
          </span>
          <StateOrWord name={stateAt(events, here.id) ?? state} />
          <button type="button" onClick={() => step(undefined)}>
            Back to now
          </button>
        </p>
      )}
      <MachineChart {...{ machine, state, events, at, deadline }} />
      <div class="session-columns">
        <Timeline {...{ machine, events, at, hasMore, more }} onStep={step} />
        <div class="side">{children}</div>
      </div>
    </>
  );
}
