import type { OperatorEvent } from '../../../protocol/operator/event.ts';
import { reasonWords } from '../words/reasons.ts';
import type { Moment } from './moment.ts';
import { wordOf, type Words, type Zone } from './words.ts';

interface StepProps {
  readonly moment: Moment;
  readonly words: Words;
  readonly zone: Zone;
}

/** The event that was stepped back to, or the newest: what was asked, what refused, and what became of it. It is read out as it changes. */
export function Step({ moment: { event, isPast }, words, zone }: StepProps) {
  return (
    <div class={isPast ? 'chart-step past' : 'chart-step'} aria-live="polite" aria-atomic="true">
      {event !== undefined && (
        <>
          <p class="event">
            <span class="when">
              {isPast ? 'Then' : 'Last'} <time dateTime={event.at}>{zone.timeOf(Date.parse(event.at))}</time>{' '}
              {zone.name}
            </span>{' '}
            <code>{event.event}</code> <span class="word">{wordOf(event.event ?? '', words)}</span>
          </p>
          <p class="guards">
            {event.guards.map(({ name, passed }, index) => (
              <span key={`${index} ${name}`} class={passed ? 'guard passed' : 'guard failed'}>
                <span class="asked">
                  <code>{name}</code>
                  <span aria-hidden="true">{passed ? '✓' : '✗'}</span>
                  <span class="unseen">{passed ? ' yes, ' : ' no, '}</span>
                </span>{' '}
                <span class="word">{wordOf(name, words)}</span>{' '}
              </span>
            ))}
            <span class="outcome">
              <span aria-hidden="true">→ </span>
              {outcomeOf(event)}
            </span>
          </p>
        </>
      )}
    </div>
  );
}

function outcomeOf({ kind, to, detail }: OperatorEvent): string {
  const { reason } = detail;
  const because = kind === 'ended' && typeof reason === 'string' && reason !== to ? `: ${reasonWords(reason)}` : '';
  return `${kind === 'stayed' ? 'stayed ' : ''}${to}${because}`;
}
