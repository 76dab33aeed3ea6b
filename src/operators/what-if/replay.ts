import { hash } from 'node:crypto';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import type { Code } from '../../protocol/errors/error-codes.ts';
import { refuseIfSpent } from '../../quota/usage.ts';
import type { ConnectedSpan } from '../../stores/budgets/contract.ts';
import type { CountedUsage } from '../../stores/usage-reports/contract.ts';
import { COUNTING_STEPS, runSteps } from '../../sessions/create/create-session.ts';
import type { CountingDeps } from '../../sessions/create/step.ts';
import type { Talk } from './replay-connected.ts';
import { limitsFor, sharedFor, type TriedRules } from './rules.ts';
import { ReplayUsage, type UsageOwner, type ReplayUsageDeps } from './replay-usage.ts';
import type { AtOnce } from '../../kernel/async.ts';
import type { Counters } from '../../stores/counters/contract.ts';
import type { KeyName, KeySlots } from '../../stores/key-slots/contract.ts';
import type { Slots } from '../../stores/slots/contract.ts';

/** Counters and slots for one replay: engines in this process's memory, new each time. */
export interface ReplayMemory {
  readonly counters: Pick<Counters, 'take' | 'giveBack'>;
  readonly slots: AtOnce<Slots>;
  readonly keySlots: Pick<KeySlots, 'take' | 'free'> & {
    /** Marks a session as open, whatever the limits are. */
    hold(key: KeyName, sessionId: string, untilMs: number): void;
    /** Marks a session as ended. */
    end(key: KeyName, sessionId: string): void;
  };
}

/** A session that is open at this point of the replay. */
interface Open extends UsageOwner {
  readonly sessionId: string;
  /** When it ended; Infinity if it has not. */
  readonly endMs: number;
  /** Its calls, where their time counts. */
  readonly talk: Talk | undefined;
}

export interface ReplaySpan {
  readonly tenantId: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** The key whose sessions and dollars are reported; null for all keys of the tenant. */
  readonly keyId: string | null;
}

export interface ReplayResult {
  readonly total: number;
  readonly refused: number;
  readonly byCode: Readonly<Partial<Record<Code, number>>>;
  readonly ended: number;
  readonly microDollars: { readonly actual: number; readonly replayed: number };
}

/**
 * Replays sessions and usage in the order of time against rules that were not in force. It refuses by the steps of a create and ends by
 * the rules of the ledger, as production does, with counts in memory. What began before the span stays as it was, and counts.
 */
export class Replay {
  readonly #rules: TriedRules;
  readonly #span: ReplaySpan;
  readonly #used: ReplayUsage;
  readonly #memory: ReplayMemory;
  readonly #calendar: ReplayUsageDeps['calendar'];
  readonly #open = new Map<string, Open>();
  readonly #openUnder = new Map<string, Set<Open>>();
  /** Sessions that were refused or ended, as 52-bit hashes: their usage no longer counts. */
  readonly #gone = new Set<number>();
  readonly #byCode: Partial<Record<Code, number>> = {};
  readonly #dollars = { actual: 0, replayed: 0 };
  #total = 0;
  #refused = 0;
  #ended = 0;
  #hasBegun = false;

  constructor(rules: TriedRules, span: ReplaySpan, memory: ReplayMemory, deps: ReplayUsageDeps) {
    this.#rules = rules;
    this.#span = span;
    this.#memory = memory;
    this.#calendar = deps.calendar;
    this.#used = new ReplayUsage(rules, deps);
  }

  /**
   * Replays the start of a session.
   * @param slotUntilMs until when it was engaged; Infinity if it still is
   * @param spans when its calls were connected
   */
  async opened(record: VoiceRecord, slotUntilMs: number, spans: readonly ConnectedSpan[] = []): Promise<void> {
    const { startedAtMs: atMs, id: sessionId, tenantId, keyId, subject, agentId } = record;
    // It was never admitted; the rule that refused it is not one of these.
    if (record.endReason === 'create_failed') return;
    this.passTo(atMs);
    const open = { tenantId, keyId, subject, agentId, sessionId, endMs: record.endedAtMs ?? Infinity };
    if (atMs < this.#span.fromMs) {
      this.#memory.slots.renew(subject, sessionId, slotUntilMs);
      if (keyId !== null) this.#memory.keySlots.hold({ tenantId, keyId }, sessionId, slotUntilMs);
      this.#keep(open, spans);
      return;
    }
    if (this.#isTold(open)) this.#total += 1;
    const code = await this.#refusalOf(record, slotUntilMs);
    if (code === undefined) {
      this.#keep(open, spans);
      return;
    }
    this.#gone.add(hashOf(sessionId));
    if (!this.#isTold(open)) return;
    this.#refused += 1;
    this.#byCode[code] = (this.#byCode[code] ?? 0) + 1;
  }

  /** Replays a usage entry. */
  counted({ atMs, tokens, microDollars, sessionId, keyId, subject, agentId }: CountedUsage): void {
    this.passTo(atMs);
    const { tenantId, fromMs } = this.#span;
    const who = { tenantId, keyId, subject, agentId, sessionId };
    const isInSpan = atMs >= fromMs && this.#isTold(who);
    if (isInSpan) this.#dollars.actual += microDollars;
    if (sessionId !== null && this.#gone.has(hashOf(sessionId))) return;
    if (isInSpan) this.#dollars.replayed += microDollars;
    this.#used.add(who, { tokens, microDollars }, atMs);
    if (this.#hasBegun) this.#endOver(who, atMs);
  }

  /** Forgets sessions that had ended by then. */
  forget(beforeMs: number): void {
    for (const open of this.#open.values()) if (open.endMs <= beforeMs) this.#drop(open);
  }

  get result(): ReplayResult {
    const [total, refused, ended] = [this.#total, this.#refused, this.#ended];
    return { total, refused, byCode: this.#byCode, ended, microDollars: this.#dollars };
  }

  /** Moves on to an instant: ends what uses its time up on the way, and where the span begins, gives what is open what is left. */
  passTo(atMs: number): void {
    const { fromMs } = this.#span;
    if (!this.#hasBegun && atMs >= fromMs) {
      this.#pass(fromMs);
      this.#hasBegun = true;
      this.forget(fromMs);
      for (const open of this.#open.values()) this.#endOver(open, fromMs);
    }
    this.#pass(atMs);
  }

  #pass(untilMs: number): void {
    for (const { account, atMs } of this.#used.timeUp(untilMs)) if (this.#hasBegun) this.#endUnder(account, atMs);
  }

  #endOver(who: UsageOwner, atMs: number): void {
    for (const account of this.#used.over(who, atMs)) this.#endUnder(account, atMs);
  }

  #endUnder(account: string, atMs: number): void {
    for (const open of this.#openUnder.get(account) ?? []) {
      this.#drop(open);
      if (open.endMs <= atMs) continue;
      this.#gone.add(hashOf(open.sessionId));
      if (open.talk !== undefined) this.#used.hangUp(open.talk, atMs);
      this.#memory.slots.free(open.subject, open.sessionId);
      if (open.keyId !== null)
        this.#memory.keySlots.end({ tenantId: open.tenantId, keyId: open.keyId }, open.sessionId);
      if (this.#isTold(open)) this.#ended += 1;
    }
  }

  async #refusalOf(record: VoiceRecord, slotUntilMs: number): Promise<Code | undefined> {
    const { startedAtMs: atMs, id: sessionId, tenantId, keyId, subject, agentId, caller, named, loginId } = record;
    const [limits, shared] = [limitsFor(this.#rules, record), sharedFor(this.#rules, record)];
    const holder = { caller, named, loginId, tenantId, keyId, subject, agentId, limits, shared };
    const quotaRefusal = refuseIfSpent(holder, atMs, {
      ledger: { totals: async (account, day) => this.#used.totals(account, day) },
      calendar: this.#calendar,
      budgets: { usedUp: async () => this.#used.usedUp({ ...holder, sessionId: null }, atMs) },
    });
    const opening = { sessionId, atMs, leaseUntilMs: slotUntilMs, quotaRefusal };
    const { counters, keySlots, slots } = this.#memory;
    const deps: CountingDeps = { stores: { counters, keySlots }, live: { slots } };
    const refusal = await runSteps(COUNTING_STEPS, { caller: holder, opening }, deps, () => undefined);
    return refusal?.code;
  }

  #keep(session: Omit<Open, 'talk'>, spans: readonly ConnectedSpan[]): void {
    const open = { ...session, talk: this.#used.connect(session, spans) };
    this.#open.set(open.sessionId, open);
    for (const account of this.#used.endedUnder(open)) {
      const under = this.#openUnder.get(account) ?? new Set();
      under.add(open);
      this.#openUnder.set(account, under);
    }
  }

  #drop(open: Open): void {
    this.#open.delete(open.sessionId);
    this.#used.forget(open.sessionId);
    for (const account of this.#used.endedUnder(open)) {
      const under = this.#openUnder.get(account);
      if (under?.delete(open) === true && under.size === 0) this.#openUnder.delete(account);
    }
  }

  #isTold({ keyId }: Pick<UsageOwner, 'keyId'>): boolean {
    return this.#span.keyId === null || keyId === this.#span.keyId;
  }
}

/** With a million sessions, two hashes collide in one of thousands of replays; the ids themselves would take a hundred megabytes. */
function hashOf(sessionId: string): number {
  return Number.parseInt(hash('sha1', sessionId, 'hex').slice(0, 13), 16);
}
