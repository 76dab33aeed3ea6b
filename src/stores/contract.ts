import type { Clock } from '../kernel/time.ts';
import type { WorkHealth } from '../kernel/passive-health.ts';
import type { ActivityStore } from './activity/contract.ts';
import type { Budgets, BudgetStates, BudgetUse } from './budgets/contract.ts';
import type { Bus } from './bus/contract.ts';
import type { CallTickets, ResumeTokens } from './call-tickets/contract.ts';
import type { Challenges, LoginAddresses, Logins } from './logins/contract.ts';
import type { ClockAgreements } from './clock/contract.ts';
import type { Counters } from './counters/contract.ts';
import type { Holds } from './holds/contract.ts';
import type { Installation } from './installation/contract.ts';
import type { Journal } from './journal/contract.ts';
import type { KeySlots } from './key-slots/contract.ts';
import type { Ledger } from './ledger/contract.ts';
import type { Recaps } from './recaps/contract.ts';
import type { Reconciliations } from './reconciliations/contract.ts';
import type { IdempotentReplies } from './idempotent-replies/contract.ts';
import type { LiveNodes, RequestTimes } from './nodes/contract.ts';
import type { Retention } from './retention/contract.ts';
import type { SavedViews } from './saved-views/contract.ts';
import type { SessionSetups } from './session-setups/contract.ts';
import type { SessionTraces } from './session-traces/contract.ts';
import type { NodeLeases, Slots } from './slots/contract.ts';
import type { TenantSecrets } from './tenant-secrets/contract.ts';
import type { Tenants } from './tenants/contract.ts';
import type { ToolCalls, VoiceCalls } from './voice-calls/contract.ts';
import type { UsageReports } from './usage-reports/contract.ts';
import type { VoiceHistory } from './voice-history/contract.ts';
import type { Share, VoiceRegistry } from './voice-registry/contract.ts';
import type { Webhooks } from './webhooks/contract.ts';
import type { Windows } from './windows/contract.ts';

/**
 * Registers again, from the history, every live session (record and slot) of the subjects for which `isLost` is true. It must call `goesOn` every few
 * seconds meanwhile, so that no other node begins the same.
 */
export type Restore = (isLost: (subject: string) => boolean, goesOn: () => Promise<unknown>) => Promise<unknown>;

/** The stores of current state: all nodes share them, and they can be rebuilt from the durable ones. */
export interface LiveStores {
  readonly registry: VoiceRegistry;
  readonly slots: Slots;
  /** The sockets of each session, over all nodes. */
  readonly sockets: NodeLeases;
  readonly windows: Windows;
  readonly bus: Bus;
  readonly recaps: Recaps;
  /** The time that all nodes share; `leadMs` is how far it is ahead of these stores' own clock because that clock was set. */
  readonly clock: Clock & { readonly leadMs?: number };
  /**
   * Restores what the stores have lost or never had: call it at the start and before every sweep. It is cheap while nothing is lost.
   * @param share which parts of the stores
   * @throws Unavailable, and what `restore` throws; the next call then tries again
   */
  restoreWhatIsLost(restore: Restore, share?: Share): Promise<unknown>;
  /** Calls the listener whenever the connection to the stores is lost, even while idle: other nodes may go on without the stores meanwhile. */
  onLost(listen: () => void): void;
  /** How the operations of the last seconds fared. */
  readonly health: WorkHealth;
  /** @throws Unavailable when the stores do not answer or take no writes */
  probe(): Promise<void>;
  /** As `probe`, and checks the bus too: this is what readiness reports. @throws Unavailable */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The stores that keep what must never be lost. */
export interface DurableStores {
  readonly activity: ActivityStore;
  readonly budgets: Budgets;
  readonly budgetStates: BudgetStates;
  readonly budgetUse: BudgetUse;
  readonly callTickets: CallTickets;
  readonly calls: VoiceCalls;
  readonly challenges: Challenges;
  readonly clockAgreements: ClockAgreements;
  readonly counters: Counters;
  readonly history: VoiceHistory;
  readonly holds: Holds;
  readonly installation: Installation;
  readonly journal: Journal;
  readonly keySlots: KeySlots;
  readonly ledger: Ledger;
  readonly liveNodes: LiveNodes;
  readonly loginAddresses: LoginAddresses;
  readonly logins: Logins;
  readonly reconciliations: Reconciliations;
  readonly idempotentReplies: IdempotentReplies;
  readonly requestTimes: RequestTimes;
  readonly resumeTokens: ResumeTokens;
  readonly retention: Retention;
  readonly savedViews: SavedViews;
  readonly sessionSetups: SessionSetups;
  readonly sessionTraces: SessionTraces;
  readonly tenantSecrets: TenantSecrets;
  readonly tenants: Tenants;
  readonly toolCalls: ToolCalls;
  readonly usageReports: UsageReports;
  readonly webhooks: Webhooks;
}

/** How a command notifies the nodes. */
export interface CommandBus extends Pick<Bus, 'publish'> {
  /** Waits until pending messages are sent. */
  close(): Promise<void>;
}
