import type { SuspectList } from '../bots/contract.ts';
import type { Calls } from '../calls/contract.ts';
import type { RoomCalls } from '../calls/room-calls.ts';
import type { Tickets } from '../calls/tickets.ts';
import type { Clock } from '../kernel/time.ts';
import type { EdgeWindows } from '../rate-limits/requests-per-minute.ts';
import type { KeptMail } from '../mail/contract.ts';
import type { NodeList } from '../node/nodes.ts';
import type { OverviewCache } from '../operators/overview/overview-cache.ts';
import type { Refusals } from '../operators/journal/refusals.ts';
import type { Operator } from '../operators/roles.ts';
import type { ReplayMemory } from '../operators/what-if/replay.ts';
import type { OperatorCore, OperatorServices } from '../operators/services.ts';
import type { OperatorMachine } from '../protocol/operator/machine.ts';
import type { ModelPrice } from '../protocol/price.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { SecretsDeps } from '../tenant-secrets/secrets.ts';
import type { CallModeOf } from '../tenants/agents.ts';
import type { BudgetDeps } from '../tenants/change-budgets.ts';
import type { KeyDeps } from '../tenants/keys.ts';
import type { StopDeps } from '../tenants/emergency-stops.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import type { Creates } from '../sessions/create/create-session.ts';
import type { EndpointsDeps } from '../webhooks/endpoints.ts';
import type { Readiness } from '../protocol/health.ts';
import type { Origins } from './steps/origin.ts';

/** What the routes use besides the features. */
interface Core extends OperatorCore {
  readonly clock: Clock;
  readonly edge: EdgeWindows;
  /** All nodes of the installation as this one knows them. */
  readonly nodes: Pick<NodeList, 'list' | 'differing'>;
  readonly provider: UpstreamProvider;
  readonly prices: { find(model: string): ModelPrice | undefined };
  /** The development mailbox; undefined where mail is sent for real. */
  readonly mailbox: { list(): readonly KeptMail[] } | undefined;
  readonly journal: OperatorCore['journal'] & { readonly refusals: Pick<Refusals, 'keep'> };
  readonly metrics: Metrics;
  /** The service's own address, without a trailing slash. A function, because a free port is known late. */
  readonly publicUrl: () => string;
  /** Whether browsers reach the service over https. */
  readonly isHttps: () => boolean;
  /** False from the moment a shutdown begins, so that load balancers stop sending requests. */
  readonly isAccepting: () => boolean;
}

/** The features of the service, as its routes see them; each route names those it uses. */
export interface Services extends OperatorServices, Creates {
  readonly core: Core;
  readonly suspects: SuspectList;
  readonly calls: OperatorServices['calls'] &
    Calls & {
      readonly tickets: Tickets;
      readonly modeOf: CallModeOf;
      /** Undefined unless pages join the provider's rooms themselves. */
      readonly ofPages: () => Pick<RoomCalls, 'hear'> | undefined;
    };
  readonly webhooks: { readonly endpoints: EndpointsDeps };
  readonly origins: Origins;
  readonly readiness: () => Promise<Readiness>;
  readonly operators: {
    /** What a login may do in the operator API. */
    readonly operatorOf: (email: string) => Operator;
    readonly overviewCache: OverviewCache;
    readonly keys: KeyDeps & StopDeps;
    readonly secrets: SecretsDeps;
    readonly budgetDeps: BudgetDeps;
    /** Fresh counters for each what-if replay. */
    readonly replayMemory: () => ReplayMemory;
    /** Made on first use; it changes only with the build and the settings. */
    readonly machines: () => { readonly machines: OperatorMachine[] };
    /** The hash of this process's settings. */
    readonly configHash: string;
  };
}
