import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ReadMore } from '../data/api.ts';
import { copy } from '../data/dialogs.ts';
import { useWords } from '../data/machines.ts';
import type { OperatorEvent } from '../data/shapes.ts';
import { folded, stepFrom } from '../data/timeline.ts';
import { spanText } from '../labels/format.ts';
import { noteWords } from '../labels/notes.ts';
import { reasonWords } from '../labels/sessions.ts';
import { deliveryPath } from '../data/links.ts';
import { StateOrWord } from './status-marks.tsx';
import { Moment } from './times.tsx';
import { More } from './table.tsx';
import { Warning } from './view-states.tsx';

type Step = Parameters<typeof stepFrom>[2];

interface Props {
  /** The id of the machine. */
  readonly machine: string;
  /** Newest first. */
  readonly events: readonly OperatorEvent[];
  /** The event that the page shows; undefined for the present. */
  readonly at: string | undefined;
  readonly onStep: (at: string | undefined) => void;
  /** Reads older events; undefined if there are none. */
  readonly more: ReadMore | undefined;
  /** The start of the time shown beside each event. If undefined, no such time is shown. */
  readonly since?: string | undefined;
  /** Shown above the list: the choice of what it is about, and why it cannot be read. */
  readonly above?: ComponentChildren;
  /** Shown if there are no events. */
  readonly empty?: ComponentChildren;
}

/** What a machine did, newest first. Stepping to an event shows the actor as it was then. */
export function Timeline({ machine, events, at, onStep, more, since, above, empty }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const here = at === undefined ? 0 : events.findIndex(({ id }) => id === at);
  const step = (by: Step): void => onStep(stepFrom(events, at, by));
  useEffect(() => {
    if (at !== undefined)
      list.current?.querySelector(`[data-event="${CSS.escape(at)}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const count = `${events.length}${more === undefined ? '' : '+'}`;
  const place =
    at === undefined
      ? `${count} ${events.length === 1 ? 'event' : 'events'}, now`
      : here < 0
        ? 'an older event'
        : `event ${events.length - here} of ${count}`;

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
      {above}
      {events.length === 0 &&
        (empty ?? <p class="soft">Nothing is kept of it. Events are written within a second, and kept for a while.</p>)}
      <ol ref={list} class="events">
        {folded(events, at).map((entry) =>
          entry.kind === 'silence' ? (
            <li key={entry.id} class="silence">
              {spanText(entry.ms)} without an event
            </li>
          ) : (
            <TimelineEvent
              key={entry.event.id}
              machine={machine}
              event={entry.event}
              older={entry.older}
              since={since}
              isHere={entry.event.id === at}
              onStep={() => onStep(entry.event.id)}
            />
          ),
        )}
      </ol>
      {more !== undefined && <More cursor="older" more={more} words="Older events" />}
    </section>
  );
}

interface TimelineEventProps {
  /** The id of the machine that did it. */
  readonly machine: string;
  readonly event: OperatorEvent;
  /** Events like it that it stands for. */
  readonly older: readonly OperatorEvent[];
  readonly since: string | undefined;
  /** Whether the page shows the machine as of this event, which is then expanded. */
  readonly isHere: boolean;
  readonly onStep: () => void;
}

/** One event: when, what, from which state to which, and why. */
function TimelineEvent({ machine: own, event, older, since, isHere, onStep }: TimelineEventProps) {
  const machine = event.about === 'call' ? 'voice-call' : own;
  const wordOf = useWords(machine);
  const link = linkOf(event);
  const first = older.at(-1);
  const { at, event: name, from, to, guards, detail, node, requestId } = event;
  const reason = to !== null && typeof detail['reason'] === 'string' ? detail['reason'] : null;
  const said = noteWords(event) ?? wordOf(name ?? '');
  return (
    <li class={isHere ? 'event here' : 'event'} aria-current={isHere ? 'step' : undefined} data-event={event.id}>
      <button type="button" class="event-at" onClick={onStep}>
        <Moment at={at} hasMs />
        {since !== undefined && <SinceStart at={at} since={since} />}
      </button>
      <div class="event-what">
        <p class={isTrouble(event) ? 'problem' : undefined}>
          {isTrouble(event) && <Warning />}
          {event.about === 'call' && 'call: '}
          {link === undefined ? said : <a href={link}>{said}</a>}{' '}
          {first !== undefined && (
            <>
              {older.length + 1} times since <Moment at={first.at} hasMs />{' '}
            </>
          )}
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

function SinceStart({ at, since }: { readonly at: string; readonly since: string }) {
  const ms = Date.parse(at) - Date.parse(since);
  return (
    <span class="since" title="Since the session started">
      {ms < 0 ? '−' : '+'}
      {spanText(Math.abs(ms))}
    </span>
  );
}

/** The page with more about a row; undefined if there is none. */
function linkOf({ kind, about, detail, requestId }: OperatorEvent): string | undefined {
  const call = detail['call'];
  if (typeof call === 'string' && (about === 'call' || kind === 'tool')) return `/console/calls/${call}`;
  if (kind === 'delivery')
    return deliveryPath({ webhook: String(detail['webhook']), event: String(detail['delivery']) });
  return kind === 'refusal' && requestId !== null ? `/console/refusals/${requestId}` : undefined;
}

/** Whether a row matters to somebody who looks for a fault. */
function isTrouble({ kind, detail }: OperatorEvent): boolean {
  const { state } = detail;
  if (kind === 'tool') return state === 'failed' || state === 'timed_out';
  return kind === 'warned' || kind === 'refusal' || (kind === 'delivery' && state === 'dead');
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

/** The guards in the order in which they were evaluated: which passed, and which refused. */
function Guards({ guards, machine }: Pick<OperatorEvent, 'guards'> & { readonly machine: string }) {
  const wordOf = useWords(machine);
  if (guards.length === 0) return null;
  return (
    <ul class="guards">
      {guards.map(({ name, passed }, index) => (
        <li key={`${index} ${name}`} class={passed ? 'passed' : 'failed'} title={name}>
          {wordOf(name)} <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
          <span class="unseen">{passed ? 'yes' : 'no'}</span>
        </li>
      ))}
    </ul>
  );
}
