/**
 * What the operator API answers, as far as the console shows it. Fields that a server may not have yet are optional: what is missing is
 * not shown. Nothing here has the whole id of a session: it is its caller's proof, and no view needs it.
 */
import type { OperatorChanges } from '../../../protocol/operator/change.ts';
import type { OperatorEvent } from '../../../protocol/operator/event.ts';
import type { DependencyState, OperatorNode, operatorNodes } from '../../../protocol/operator/node.ts';
import type { overview } from '../../../protocol/operator/overview.ts';
import type {
  exactRefusal,
  OperatorRefusal,
  operatorRefusalPage,
  refusalMinute,
} from '../../../protocol/operator/refusal.ts';
import type { OperatorSession, operatorSessionDetail } from '../../../protocol/operator/session.ts';
import type { OperatorUsageRow, usageReportReply } from '../../../protocol/operator/usage.ts';

type Output<S extends { readonly _zod: { readonly output: unknown } }> = S['_zod']['output'];

export type { OperatorEvent };

export type State = OperatorSession['state'];

export interface Deadline {
  readonly at: string;
  readonly to: 'idle' | 'stale' | 'ended';
  readonly reason: string | null;
}

interface Spent {
  readonly tokens: number;
  readonly dollars: number;
}

interface Reckoned {
  readonly deadline?: Deadline | null;
  readonly usage?: Spent | null;
}

export type Session = Omit<OperatorSession, 'id' | keyof Reckoned> & Reckoned;

export interface SessionPage {
  readonly sessions: readonly Session[];
  readonly nextCursor: string | null;
  readonly asOf?: string;
  readonly searchedTo?: string | null;
}

/** A refusal of a caller, as a session's page lists it. */
interface Refused {
  readonly requestId: string;
  readonly at: string;
  readonly code: string;
  readonly sentence?: string;
}

/** What somebody did to it. */
interface Act {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly reason: string | null;
  readonly requestId: string | null;
}

interface Explained {
  readonly why?: { readonly sentence: string };
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly refusals?: readonly Refused[];
  readonly audit?: readonly Act[];
}

type Detail = Output<typeof operatorSessionDetail>;

export type SessionDetail = Omit<Detail, 'id' | keyof Reckoned | keyof Explained> & Reckoned & Explained;

export type Call = Detail['calls'][number];

export interface EventPage {
  readonly events: readonly OperatorEvent[];
  readonly nextCursor: string | null;
}

/** Counts, and what the installation says of itself. */
export type Overview = Output<typeof overview>;
export type Activity = Overview['activity']['hour'];
export type Node = OperatorNode;
export type Dependency = DependencyState;
export type NodeList = Output<typeof operatorNodes>;

export type Refusal = OperatorRefusal;
export type RefusalPage = Output<typeof operatorRefusalPage>;
export type RefusalMinute = Output<typeof refusalMinute>;
export type FoundRefusal = Output<typeof exactRefusal> | RefusalMinute;

export type UsageReport = Output<typeof usageReportReply>;
export type UsageRow = OperatorUsageRow;

export type Changes = OperatorChanges;

export interface Me {
  readonly email: string;
  readonly role: string;
  readonly tenants: '*' | readonly string[];
  readonly can?: readonly string[];
  readonly now?: string;
  readonly version?: string;
  readonly timeZone?: string;
}

export interface Hit {
  readonly kind: string;
  readonly id: string;
  readonly label: string;
  readonly href: string;
}
