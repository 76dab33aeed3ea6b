/** What the operator API answers, without the whole id of any session: it is its caller's proof, and no view needs it. */
import type { OperatorEvent, operatorEventPage } from '../../../protocol/operator/event.ts';
import type { overview } from '../../../protocol/operator/overview.ts';
import type {
  OperatorSession,
  operatorSessionDetail,
  operatorSessionPage,
} from '../../../protocol/operator/session.ts';

type Output<S extends { readonly _zod: { readonly output: unknown } }> = S['_zod']['output'];

export type { OperatorEvent };

export type State = OperatorSession['state'];

export type Session = Omit<OperatorSession, 'id'>;

export type SessionPage = Omit<Output<typeof operatorSessionPage>, 'sessions'> & {
  readonly sessions: readonly Session[];
};

type Detail = Output<typeof operatorSessionDetail>;

export type SessionDetail = Omit<Detail, 'id'>;

export type Call = Detail['calls'][number];

export type EventPage = Output<typeof operatorEventPage>;

export type Overview = Output<typeof overview>;
