import { nextDeadline } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallFact, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import type { Host } from '../actors/host.ts';
import type { Clock } from '../kernel/clock.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { VoiceCalls as CallStore } from '../stores/voice-calls/contract.ts';
import type { Accounts } from './accounts.ts';

/** An owner that lives cuts off what is being said first, and hears its usage. */
const HEAD_START_MS = 500;
const AT_ONCE = 50;

export interface EndsElsewhereDeps {
  readonly store: Pick<CallStore, 'load' | 'ofSession'>;
  readonly host: Host<CallRecord, CallEvent, CallFact>;
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** The name of this node. */
  readonly node: string;
}

/**
 * Calls of other nodes whose end this node saved. Their owner may be dead, which nobody knows before its lease is over, so this node asks
 * for the hang-up as well, until the call is over or its own. To be asked twice harms no call.
 */
export class EndsElsewhere {
  readonly #deps: EndsElsewhereDeps;
  readonly #lookAtMs = new Map<string, number>();

  constructor(deps: EndsElsewhereDeps) {
    this.#deps = deps;
  }

  /** Closes the calls of a session that ended here, whoever holds them. @throws Unavailable */
  async closeAll(sessionId: string, reason: CloseRequest): Promise<void> {
    const { store, host, clock, node } = this.#deps;
    for (const { id, state, ownerNode } of await store.ofSession(sessionId))
      if (state !== 'closed' && ownerNode !== node) await host.send(id, { type: 'CLOSE', at: clock.now(), reason });
  }

  /** This node saved that a call of another is to end. */
  note({ id, provider, fingerprint }: CallRecord): void {
    const { accounts, clock } = this.#deps;
    if (accounts.of({ provider, fingerprint }) !== undefined) this.#lookAtMs.set(id, clock.now() + HEAD_START_MS);
  }

  /** @param act does what a call is due for. @throws Unavailable */
  async look(act: (record: CallRecord) => Promise<unknown>): Promise<void> {
    const at = this.#deps.clock.now();
    const due = [...this.#lookAtMs].filter(([, lookAtMs]) => lookAtMs <= at);
    await settleAll(due, ([id]) => this.#lookAt(id, at, act), AT_ONCE);
  }

  async #lookAt(id: string, at: number, act: (record: CallRecord) => Promise<unknown>): Promise<void> {
    const { store, node } = this.#deps;
    const record = await store.load(id);
    const isDone = record?.state !== 'closing' || record.ownerNode === node || record.hangup === 'unconfirmed';
    if (isDone) return void this.#lookAtMs.delete(id);
    this.#lookAtMs.set(id, Math.max(at, nextDeadline(record)) + HEAD_START_MS);
    await act(record);
  }
}
