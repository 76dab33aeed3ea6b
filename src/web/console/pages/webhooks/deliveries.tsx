import type { Delivery } from '../../data/webhooks.ts';
import { deliveryPath } from '../../data/webhooks.ts';
import { latencyText } from '../../labels/format.ts';
import { Standing } from '../../components/status-marks.tsx';
import { Countdown, Moment } from '../../components/times.tsx';
import type { Column } from '../../components/table.tsx';

/** The state of a delivery. */
export function DeliveryMark({ state }: Pick<Delivery, 'state'>) {
  const kinds = { waiting: 'waiting', delivered: 'on', dead: 'bad' } as const;
  return <Standing kind={kinds[state]}>{state}</Standing>;
}

const CODES: Readonly<Record<string, string>> = {
  forbidden: 'its address is not public',
  unreachable: 'could not be reached',
  timed_out: 'did not answer in time',
  unsigned: 'its secret cannot be read',
};

/** What the server last answered, or why it did not, in few words. */
export function answerWords({ lastStatus, lastCode, lastAt }: Pick<Delivery, 'lastStatus' | 'lastCode' | 'lastAt'>) {
  if (lastAt === null) return 'not sent yet';
  return lastStatus === null ? (CODES[lastCode ?? ''] ?? lastCode ?? 'no answer') : String(lastStatus);
}

export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: 'Happened', cell: ({ at }) => <Moment at={at} /> },
  {
    title: 'Event',
    isName: true,
    cell: (delivery) => (
      <a href={deliveryPath(delivery)}>
        <code>{delivery.type}</code>
      </a>
    ),
  },
  { title: 'State', cell: ({ state }) => <DeliveryMark state={state} /> },
  { title: 'Answer', style: 'text', cell: answerWords },
  { title: 'Tries', style: 'number', cell: ({ attempts }) => String(attempts) },
  { title: 'Took', style: 'number', cell: ({ ms }) => (ms === null ? '–' : latencyText(ms)) },
  { title: 'Next', cell: ({ nextAt }) => (nextAt === null ? '–' : <Countdown to={nextAt} />) },
];
