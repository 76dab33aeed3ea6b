import { useEffect, useRef } from 'preact/hooks';
import type { ReadMore } from '../data/api.ts';
import type { OperatorEvent } from '../data/shapes.ts';
import { stepFrom, withSilences } from '../data/timeline.ts';
import { spanText } from '../words/format.ts';
import { More } from './more.tsx';
import { TimelineEvent } from './timeline-event.tsx';

type Step = Parameters<typeof stepFrom>[2];

interface Props {
  /** The id of the machine. */
  readonly machine: string;
  /** Newest first. */
  readonly events: readonly OperatorEvent[];
  /** The event at which the page stands; undefined is now. */
  readonly at: string | undefined;
  readonly onStep: (at: string | undefined) => void;
  readonly hasMore: boolean;
  readonly more: ReadMore;
}

/** What a machine did, newest first. Stepping shows its actor as it was. */
export function Timeline({ machine, events, at, onStep, hasMore, more }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const here = at === undefined ? 0 : events.findIndex(({ id }) => id === at);
  const step = (by: Step): void => onStep(stepFrom(events, at, by));
  useEffect(() => {
    if (at !== undefined)
      list.current?.querySelector(`[data-event="${CSS.escape(at)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const place =
    at === undefined
      ? `${events.length}${hasMore ? '+' : ''} ${events.length === 1 ? 'event' : 'events'}, now`
      : here < 0
        ? 'an older event'
        : `event ${events.length - here} of ${events.length}${hasMore ? '+' : ''}`;

  return (
    <section class="card timeline" aria-labelledby="timeline-title">
      <div class="title-row">
        <h2 id="timeline-title">What happened</h2>
        <span class="soft" role="status">
          {place}
        </span>
        <span class="spring" />
        <div class="steps" role="group" aria-label="Step">
          <button type="button" title="Start (Home)" aria-label="To the start" onClick={() => step('start')}>
            ⇤
          </button>
          <button type="button" title="Older ([)" aria-label="To the older event" onClick={() => step(-1)}>
            ◂
          </button>
          <button
            type="button"
            title="Newer (])"
            aria-label="To the newer event"
            onClick={() => step(1)}
            disabled={at === undefined}
          >
            ▸
          </button>
          <button
            type="button"
            title="Now (End)"
            aria-label="To now"
            onClick={() => step('now')}
            disabled={at === undefined}
          >
            ⇥
          </button>
        </div>
      </div>
      {events.length === 0 && (
        <p class="soft">Nothing is kept of it. Events are written within a second, and kept for a while.</p>
      )}
      <ol ref={list} class="events">
        {withSilences(events).map((entry) =>
          entry.kind === 'silence' ? (
            <li key={entry.id} class="silence">
              {spanText(entry.ms)} without an event
            </li>
          ) : (
            <TimelineEvent
              key={entry.event.id}
              machine={machine}
              event={entry.event}
              isHere={entry.event.id === at}
              onStep={() => onStep(entry.event.id)}
            />
          ),
        )}
      </ol>
      <More cursor={hasMore ? 'older' : null} more={more} words="Older events" />
    </section>
  );
}
