import type { CallRecord } from '../../machines/voice-call/types.ts';
import { longestEndMs } from '../../machines/voice-session/selectors.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { RoomEvent } from '../upstream/room-contract.ts';
import type { CallHolder } from './held-call.ts';
import { termsOf } from './open-call.ts';
import type { AdoptRequest } from './contract.ts';

/** How long the provider may take to delete a room that was opened again. */
const DELETE_MS = 2000;

/**
 * Calls that pages open themselves, with a token that names the call: a LiveKit room. Switchboard does not hear them. They are held from the time the
 * token is issued, are `creating` until the provider reports that the visitor joined, and are hung up like all others (docs/contract.md, section
 * 5.17).
 */
export class RoomCalls {
  readonly #calls: CallHolder;

  constructor(calls: CallHolder) {
    this.#calls = calls;
  }

  /** Holds a session's call before its page can open it. @throws Unavailable when the database is away: then the token must not be handed out */
  async adopt({ session, setup, callId: id, requestId }: AdoptRequest): Promise<void> {
    const { store, host, voiceLimits, clock, lease, renewLease, hold } = this.#calls;
    await renewLease();
    const terms = termsOf(id, session, setup, this.#calls);
    const giveUpAtMs = longestEndMs(session, voiceLimits) + MINUTE_MS;
    const record = host.open({ type: 'CREATE', at: clock.now(), terms, node: lease.node, giveUpAtMs, requestId });
    const inserted = await store.insert(record, 1);
    if (inserted !== 'inserted') throw new Error(`the call of a new session was not its first one (${inserted})`);
    await hold(record, setup).created({ providerCallId: id, answerSdp: '' });
  }

  /**
   * Handles a report of the provider about a room. Reports that are repeated, late or out of order change nothing: a visitor joins once, and leaves
   * once.
   * @throws Unavailable, or UpstreamFault where a room that is open after its session cannot be deleted: then the provider must report it again
   */
  async hear({ type, room, identity }: RoomEvent): Promise<void> {
    if (type === 'other') return;
    const { store, sessions, provider, clock } = this.#calls;
    const call = await store.load(room);
    if (call === undefined || call.provider !== provider.name) return;
    const session = await sessions.find(call.sessionId);
    const isVisitor = identity !== undefined && identity === session?.upstreamId;
    if (type === 'finished' || (type === 'left' && isVisitor)) {
      if (call.state === 'creating' || call.state === 'open')
        await sessions.end(call.sessionId, 'upstream_ended', clock.now());
    } else if (type === 'started' || type === 'joined') await this.#opened(call, type === 'joined' && isVisitor);
  }

  async #opened({ id, sessionId, state }: CallRecord, isJoined: boolean): Promise<void> {
    const { host, sessions, provider, clock } = this.#calls;
    const at = clock.now();
    // The room was opened again after its end, with a token that had not expired yet.
    if (state === 'closed') return void (await provider.hangUp(id, AbortSignal.timeout(DELETE_MS)));
    if (isJoined || state === 'closing') await host.send(id, { type: 'READY', at });
    if (isJoined && state !== 'closing') await sessions.noteActivity(sessionId, at);
  }
}
