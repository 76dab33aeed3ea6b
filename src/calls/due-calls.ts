import { awaitedUntilMs, isSecondWordDue, nextDeadline, provesOver } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import { classify } from '../../machines/voice-session/selectors.ts';
import { Unavailable } from '../kernel/errors.ts';
import { settleAll } from '../kernel/async.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import type { CallHolder } from './held-call.ts';
import type { CallDeps } from './deps.ts';
import type { HangUpListener } from './hang-ups.ts';
import { meteredCall } from './metered-call.ts';

/**
 * Does what a call of this node is due for: ends its session, moves it by the clock, asks for its hang-up. Each is done before it is saved, so that
 * if this node dies in between, the next one does it again.
 * @throws Unavailable
 */
export async function runDueCall(record: CallRecord, deps: CallHolder): Promise<void> {
  const { host, clock } = deps;
  const at = clock.now();
  if (nextDeadline(record) > at) return;
  if (at >= (record.graceUntilMs ?? Infinity)) await endSession(record, at, deps);
  const clockEvent: CallEvent = { type: 'CLOCK', at };
  const isGivenUp = record.state === 'closing' && at >= (record.giveUpAtMs ?? Infinity);
  if (isGivenUp || provesOver(record, clockEvent)) await settleUsage(record.id, deps);
  const outcome = await host.send(record.id, clockEvent, ({ fence }) => fence === record.fence);
  if (outcome !== undefined) hangUp(outcome.record, at, deps);
}

/** Ends the session, unless it goes on after the loss of the call. */
async function endSession(record: CallRecord, at: number, deps: CallHolder): Promise<void> {
  if (awaitedUntilMs(record) !== null && (await goesOn(record, at, deps))) return;
  const { sessionId, closeReason } = record;
  await deps.sessions.end(sessionId, closeReason === 'tool_ended' ? 'closed_by_tool' : 'upstream_ended', at);
}

/** Whether another call of the session followed, or its next page may still open one: then the session waits for that. */
async function goesOn(record: CallRecord, at: number, deps: CallHolder): Promise<boolean> {
  const { store, sessions, voiceLimits, resumeTokens, holds, host, perSession } = deps;
  const { id, sessionId, createdAtMs, closingAtMs, closedAtMs, graceUntilMs, fence } = record;
  const session = await sessions.find(sessionId);
  const isEngaged = session !== undefined && classify(session, at, voiceLimits) === 'engaged';
  const next = isEngaged ? await resumeTokens.nextPageOf(session, closingAtMs ?? closedAtMs ?? at, at) : undefined;
  // Read after the token: a page that has just used it has first made this call wait for longer.
  const calls = await store.ofSession(sessionId);
  const hasFollower = calls.some((call) =>
    call.id === id
      ? call.graceUntilMs !== graceUntilMs
      : call.createdAtMs >= createdAtMs && (call.state !== 'closed' || call.openedAtMs !== null),
  );
  if (hasFollower) return true;
  if (next === undefined || next.untilMs <= at || calls.length >= perSession) return false;
  // A session without a page uses nothing.
  if (next.hasLeft) await holds.releaseWaiting(record);
  // If a page has resumed the session meanwhile, the call waits for that page's call, and no longer.
  const waitsAsRead = (present: CallRecord): boolean =>
    present.fence === fence && present.graceUntilMs === graceUntilMs;
  await host.send(id, { type: 'AWAITED', at, untilMs: next.untilMs }, waitsAsRead);
  return true;
}

/** Counts usage before the call is over: afterwards nobody marks what was not counted. */
async function settleUsage(id: string, { metering, heldOf }: CallHolder): Promise<void> {
  await (heldOf(id)?.settleUsage() ?? metering.flushCall(id));
}

function hangUp(call: CallRecord, at: number, deps: CallHolder): void {
  const { host, hangUps, clock, heldOf } = deps;
  const { id, providerCallId, state, fence, hangup, hangupTries, overDoor } = call;
  if (state !== 'closing' || providerCallId === null || at < (call.nextTryAtMs ?? Infinity)) return;
  // A call that was not hung up may have spoken again; the try that confirms the first hang-up finds it silent.
  const held = heldOf(id);
  const listener: HangUpListener = {
    cancelSpeech: async () => (hangup === 'none' || hangupTries > 1 ? held?.cancelSpeech() : undefined),
    hear: (event) => held?.hear(event),
  };
  const isDialledToo = hangup !== 'asked' && overDoor === 'hangup' && isSecondWordDue(call, at);
  hangUps.start({ ...call, providerCallId, isDialledToo }, listener, async (answer) => {
    const isLeft = held?.isLeft ?? false;
    const event: CallEvent = { type: 'HANGUP_ANSWERED', at: clock.now(), ...answer, isLeft };
    const isSettled = provesOver(call, event);
    if (isSettled) await settleUsage(id, deps);
    // If another node's answer settles the call together with this one, the next look finds that.
    const mayTell = (present: CallRecord): boolean =>
      present.fence === fence && (isSettled || !provesOver(present, event));
    const outcome = await host.send(id, event, mayTell);
    if (outcome !== undefined) held?.applyRecord(outcome.record);
  });
}

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
