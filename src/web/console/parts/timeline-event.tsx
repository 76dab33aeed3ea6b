import type { OperatorEvent } from '../data/shapes.ts';
import { copy } from '../data/dialogs.ts';
import { useWords } from '../data/machines.ts';
import { noteWords } from '../words/notes.ts';
import { reasonWords } from '../words/reasons.ts';
import { Guards } from './guards.tsx';
import { Moment } from './moments.tsx';
import { StateOrWord } from './state-mark.tsx';

interface Props {
  /** The id of the machine that did it. */
  readonly machine: string;
  readonly event: OperatorEvent;
  /** The machine is seen as it was then: the event says all that it knows. */
  readonly isHere: boolean;
  readonly onStep: () => void;
}

/** One event: when, what, from where to where, and why. */
export function TimelineEvent({ machine, event, isHere, onStep }: Props) {
  const wordOf = useWords(machine);
  const { at, event: name, from, to, guards, detail, node, requestId } = event;
  const reason = typeof detail['reason'] === 'string' ? detail['reason'] : null;
  return (
    <li class={isHere ? 'event here' : 'event'} aria-current={isHere ? 'step' : undefined} data-event={event.id}>
      <button type="button" class="event-at" onClick={onStep}>
        <Moment at={at} hasMs />
      </button>
      <div class="event-what">
        <p>
          {noteWords(event) ?? wordOf(name ?? '')}{' '}
          {to !== null && (
            <span class="event-move">
              {from !== null && from !== to && (
                <>
                  <StateOrWord name={from} /> <span aria-label="to">→</span>{' '}
                </>
              )}
              <StateOrWord name={to} />
            </span>
          )}
          {reason !== null && <> {reasonWords(reason)}</>}
        </p>
        <Guards guards={guards} machine={machine} />
        {isHere && to !== null && <EventDetail event={event} />}
      </div>
      <p class="event-where soft">
        {node !== null && <span title={node}>node {node.slice(0, 6)}</span>}
        {requestId !== null && (
          <button
            type="button"
            class="link"
            title="Copy the request id"
            onClick={() => void copy(requestId, 'Request id')}
          >
            {requestId}
          </button>
        )}
      </p>
    </li>
  );
}

/** The steps that the machine took, and the record after them. */
function EventDetail({ event: { event, steps, record } }: { readonly event: OperatorEvent }) {
  const times = [
    ['seen', record.lastSeenAt],
    ['active', record.lastActivityAt],
    ['settled', record.settledAt],
  ] as const;
  return (
    <div class="event-detail">
      <ol>
        {steps.map((step, index) => (
          <li key={index}>
            <code>
              {step.event || (index === 0 ? event : 'then')}: {step.from} → {step.to}
            </code>
            {step.guard !== null && (
              <>
                {' '}
                if <code>{step.guard}</code>
              </>
            )}
            {step.actions.length > 0 && (
              <>
                {' '}
                does <code>{step.actions.join(', ')}</code>
              </>
            )}
          </li>
        ))}
      </ol>
      <p class="soft">
        Record {record.version}
        {times.map(([what, at]) =>
          at === null ? null : (
            <span key={what}>
              , {what} <Moment at={at} hasMs />
            </span>
          ),
        )}
      </p>
    </div>
  );
}
