import type { Clock } from '../kernel/clock.ts';
import type { WorkHealth } from '../kernel/passive-health.ts';
import type { ActivityStore } from './activity/contract.ts';
import type { Budgets, BudgetStates, BudgetUse } from './budgets/contract.ts';
import type { Bus } from './bus/contract.ts';
import type { CallTickets } from './call-tickets/contract.ts';
import type { Challenges } from './challenges/contract.ts';
import type { ClockAgreements } from './clock/contract.ts';
import type { Counters } from './counters/contract.ts';
import type { Holds } from './holds/contract.ts';
import type { Installation } from './installation/contract.ts';
import type { Journal } from './journal/contract.ts';
import type { KeySlots } from './key-slots/contract.ts';
import type { Ledger } from './ledger/contract.ts';
import type { LoginAddresses } from './login-addresses/contract.ts';
import type { Logins } from './logins/contract.ts';
import type { Recaps } from './recaps/contract.ts';
import type { Reconciliations } from './reconciliations/contract.ts';
import type { Replays } from './replays/contract.ts';
import type { RequestTimes } from './request-times/contract.ts';
import type { ResumeTokens } from './resume-tokens/contract.ts';
import type { Retention } from './retention/contract.ts';
import type { SavedViews } from './saved-views/contract.ts';
import type { SessionSetups } from './session-setups/contract.ts';
import type { SessionTraces } from './session-traces/contract.ts';
import type { NodeLeases, Slots } from './slots/contract.ts';
import type { TenantSecrets } from './tenant-secrets/contract.ts';
import type { Tenants } from './tenants/contract.ts';
import type { ToolCalls } from './tool-calls/contract.ts';
import type { UsageReports } from './usage-reports/contract.ts';
import type { LiveNodes, VoiceCalls } from './voice-calls/contract.ts';
import type { VoiceHistory } from './voice-history/contract.ts';
import type { Share, VoiceRegistry } from './voice-registry/contract.ts';
import type { Webhooks } from './webhooks/contract.ts';
import type { Windows } from './windows/contract.ts';

/**
 * Registers every live session of the subjects that `isLost` names, from the history: records and slots. `goesOn` is to be called every few
 * seconds meanwhile, so that nobody else begins the same.
 */
export type Restore = (isLost: (subject: string) => boolean, goesOn: () => Promise<unknown>) => Promise<unknown>;

/** The stores of what is under way: every node shares them, and they can be rebuilt from the durable ones. */
export interface LiveStores {
  readonly registry: VoiceRegistry;
  readonly slots: Slots;
  /** The sockets of each session, over all nodes. */
  readonly sockets: NodeLeases;
  readonly windows: Windows;
  readonly bus: Bus;
  readonly recaps: Recaps;
  /** The time that all nodes share; `leadMs` is how far it is ahead of these stores' own, because that was set. */
  readonly clock: Clock & { readonly leadMs?: number };
  /**
   * Restores what the stores have lost, or never had: call it at the start and before every sweep. While nothing is lost it is cheap.
   * @param share of which parts of them
   * @throws Unavailable, and what `restore` throws; then the next call tries again
   */
  restoreWhatIsLost(restore: Restore, share?: Share): Promise<unknown>;
  /** Calls the listener whenever the way to them is lost, also while nothing is asked: others may go on without them meanwhile. */
  onLost(listen: () => void): void;
  /** What all that was asked of them got in the last seconds. */
  readonly health: WorkHealth;
  /** @throws Unavailable when they do not answer, or take no writes */
  probe(): Promise<void>;
  /** As `probe`, and the bus as well: what readiness tells. @throws Unavailable */
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
  readonly replays: Replays;
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

/** What a command tells the nodes by. */
export interface CommandBus extends Pick<Bus, 'publish'> {
  /** Sends what is still under way. */
  close(): Promise<void>;
}
