import { provesOver } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord, CloseRequest } from '../../machines/voice-call/types.ts';
import { ifAway } from '../kernel/errors.ts';
import type { UpstreamEvent } from '../upstream/contract.ts';
import { UnsavedHangUp } from './unsaved-hang-up.ts';
import type { HangUpListener, HangUps } from './hang-ups.ts';

type OverReason = Extract<CallEvent, { type: 'OVER' }>['reason'];

/** Events about the connection, about us or about the end itself; any other one shows that the call goes on. */
const NO_SIGNS_OF_LIFE: ReadonlySet<UpstreamEvent['type']> = new Set(['ready', 'frameTooLong', 'trouble', 'over']);

export interface CallEndDeps {
  readonly hangUps: HangUps;
  readonly listener: HangUpListener;
  /** The call as it is known here. */
  readonly record: () => CallRecord;
  /** The provider's name of the call, saved or not. */
  readonly providerCallId: () => string | null;
  /** Whether the provider itself has closed the last sideband. */
  readonly isLeft: () => boolean;
  /** Saves that the provider has created the call, where that was not saved. @throws Unavailable */
  readonly saveCreated: () => Promise<void>;
  /** Since when nobody hears it as it closes, where that was not saved. */
  readonly unheardSinceMs: () => number | undefined;
  /** Before the record closes. @throws Unavailable */
  readonly settleUsage: () => Promise<void>;
  /** @throws Unavailable */
  readonly send: (event: CallEvent) => Promise<void>;
}

/** A hang-up that has been due for this long is held up by a database that is away: it is asked all the same. */
const OVERDUE_MS = 1000;

/** How a held call is to end, by the provider's word or by ours, until its record says so. */
export class CallEnd {
  readonly #deps: CallEndDeps;
  readonly #unsavedHangUp: UnsavedHangUp;
  #said: OverReason | undefined;
  #wanted: CloseRequest | undefined;
  #dueSinceMs: number | undefined;

  constructor(deps: CallEndDeps) {
    this.#deps = deps;
    this.#unsavedHangUp = new UnsavedHangUp(deps.hangUps);
  }

  /** The provider says that the call is over. The first reason stays. */
  say(reason: OverReason): void {
    this.#said ??= reason;
  }

  /** We want it to be over. The first reason stays. */
  want(reason: CloseRequest): void {
    this.#wanted ??= reason;
  }

  /** The sideband is gone: a provider that has closed it itself is the second witness of what it said. */
  sidebandLost(): void {
    if (this.#deps.isLeft() && this.#deps.record().overAtMs !== null) this.say('lost');
  }

  /** Until when the call may have gone on: not after it was hung up while that could not be saved. */
  latestMs(at: number): number {
    return Math.min(at, this.#unsavedHangUp.doneAtMs ?? at);
  }

  /** Whether an event shows that the call goes on, although the provider said that it is over. */
  isContradictedBy({ type }: UpstreamEvent): boolean {
    return this.#deps.record().overAtMs !== null && !NO_SIGNS_OF_LIFE.has(type);
  }

  /** Saves what was not saved. While the database is away the provider is asked to hang up all the same. @throws Unavailable */
  async save(at: number): Promise<void> {
    const { record, saveCreated, send } = this.#deps;
    try {
      await saveCreated();
      if (this.#said !== undefined) await this.#saveSaid(this.#said, at);
      if (this.#wanted !== undefined && record().closeReason === null)
        await send({ type: 'CLOSE', at, reason: this.#wanted });
      if (this.#isOverdue(at)) this.#hangUpUnsaved(at);
      const unheardSinceMs = this.#deps.unheardSinceMs();
      if (unheardSinceMs !== undefined) await send({ type: 'SIDEBAND_LOST', at: unheardSinceMs });
    } catch (fault) {
      if (this.#wanted !== undefined) ifAway(() => this.#hangUpUnsaved(at))(fault);
      throw fault;
    }
  }

  async #saveSaid(reason: OverReason, at: number): Promise<void> {
    const { hangUps, record, isLeft, settleUsage, send } = this.#deps;
    // What the provider tells because of a hang-up is told after its answer.
    await hangUps.settled(record().id);
    const event = { type: 'OVER', at, reason, isLeft: isLeft() } as const;
    if (provesOver(record(), event)) await settleUsage();
    await send(event);
    this.#said = undefined;
  }

  #isOverdue(at: number): boolean {
    const { state, nextTryAtMs } = this.#deps.record();
    const isDue = state === 'closing' && at >= (nextTryAtMs ?? Infinity);
    this.#dueSinceMs = isDue ? (this.#dueSinceMs ?? at) : undefined;
    return isDue && at - (this.#dueSinceMs ?? at) >= OVERDUE_MS;
  }

  #hangUpUnsaved(at: number): void {
    const { record, listener } = this.#deps;
    const providerCallId = this.#deps.providerCallId();
    if (providerCallId === null) return;
    this.#unsavedHangUp.try({ ...record(), providerCallId }, listener, at);
  }
}
