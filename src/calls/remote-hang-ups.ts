import { nextDeadline, provesOver } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import { settleAll } from '../kernel/async.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import type { CallDeps } from './deps.ts';
import { meteredCall } from './metered-call.ts';

/** An owner that lives first cuts off what is being said, and hears its usage: this node waits that long before it asks. */
const HEAD_START_MS = 500;
const MAX_CONCURRENT = 50;

/**
 * Calls of other nodes whose end this node saved. Their owner may be dead, which nobody knows before its lease lapses, so this node asks for the
 * hang-up as well, until the call is over or its own. Asking twice does no harm. This node never closes the record: only the owner knows what it
 * heard and did not count, and a node that takes the call over marks that as a gap.
 */
export class RemoteHangUps {
  readonly #deps: CallDeps;
  /** Sessions that ended here while the database was away: their calls are still to be closed. */
  readonly #ended = new Map<string, CloseRequest>();
  readonly #lookAtMs = new Map<string, number>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  /**
   * Closes the calls of a session that ended here, whichever nodes hold them. While the database is away, the next look tries again.
   * @throws Unavailable
   */
  async closeAll(sessionId: string, reason: CloseRequest): Promise<void> {
    const { store, host, clock, lease } = this.#deps;
    this.#ended.delete(sessionId);
    try {
      for (const { id, state, ownerNode } of await store.ofSession(sessionId))
        if (state !== 'closed' && ownerNode !== lease.node)
          await host.send(id, { type: 'CLOSE', at: clock.now(), reason });
    } catch (fault) {
      if (fault instanceof Unavailable) this.#ended.set(sessionId, reason);
      throw fault;
    }
  }

  /** This node saved that another node's call is to end. */
  note({ id, provider, fingerprint }: CallRecord): void {
    const { accounts, clock } = this.#deps;
    if (accounts.of({ provider, fingerprint }) !== undefined) this.#lookAtMs.set(id, clock.now() + HEAD_START_MS);
  }

  /** @throws Unavailable */
  async look(): Promise<void> {
    const [first, ...others] = this.#ended;
    // The first one alone: it throws while the database is away, before the others are tried.
    if (first !== undefined) await this.closeAll(...first);
    await settleAll(others, ([sessionId, reason]) => this.closeAll(sessionId, reason), MAX_CONCURRENT);
    const at = this.#deps.clock.now();
    const due = [...this.#lookAtMs].filter(([, lookAtMs]) => lookAtMs <= at);
    await settleAll(due, ([id]) => this.#lookAt(id, at), MAX_CONCURRENT);
  }

  async #lookAt(id: string, at: number): Promise<void> {
    const { store, lease } = this.#deps;
    const record = await store.load(id);
    const isDone = record?.state !== 'closing' || record.ownerNode === lease.node || record.hangup === 'unconfirmed';
    if (isDone) return void this.#lookAtMs.delete(id);
    this.#lookAtMs.set(id, Math.max(at, nextDeadline(record)) + HEAD_START_MS);
    const { providerCallId, nextTryAtMs } = record;
    if (providerCallId !== null && at >= (nextTryAtMs ?? Infinity)) await this.#hangUp({ ...record, providerCallId });
  }

  async #hangUp(call: CallRecord & { readonly providerCallId: string }): Promise<void> {
    const { setups, hangUps, metering, host, clock } = this.#deps;
    const metered = meteredCall(call, await setups.find(call.sessionId));
    const listener = {
      // Only the owner can hear what is being said.
      cancelSpeech: () => Promise.resolve(),
      hear: (event: UpstreamEvent): void => {
        // Some providers report what a call cost only to the one that ends it.
        if (event.type === 'usageTotal') metering.hear(metered, event, clock.now());
      },
    };
    hangUps.start(call, listener, async (answer) => {
      const event: CallEvent = { type: 'HANGUP_ANSWERED', at: clock.now(), ...answer };
      const mayTell = (present: CallRecord): boolean => present.fence === call.fence && !provesOver(present, event);
      await host.send(call.id, event, mayTell);
    });
  }
}
