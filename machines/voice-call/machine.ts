import { assertEvent, assign, emit, setup } from 'xstate';
import type { CloseReason } from './close-reasons.ts';
import { answeredHangup, NOTHING_SAID, saidOver, tryFrom } from './hang-up-tries.ts';
import { awaitedUntilMs, graceEndMs, provesOver, unheardEndMs, untoldMs } from './selectors.ts';
import type { CallEvent, CallFact, CallLimits, CallRecord, Hangup } from './types.ts';

interface At {
  readonly context: CallRecord;
  readonly event: CallEvent;
}

/** The version change that every event makes besides its own change. */
function changed(call: CallRecord, change: Partial<CallRecord>): Partial<CallRecord> {
  return { ...change, version: call.version + 1 };
}

function taken({ context, event }: At): Partial<CallRecord> {
  assertEvent(event, 'TAKEN');
  return { ownerNode: event.node, fence: context.fence + 1 };
}

/** A node without the credential of a call does not ask for it; a node that has it starts asking again. @param nextTryAtMs when it asks */
function askedBy({ context, event }: At, nextTryAtMs: number | null): Partial<CallRecord> {
  assertEvent(event, 'TAKEN');
  if (context.providerCallId === null) return {};
  if (event.isForeign === true) return { ...NOTHING_SAID, hangup: 'unconfirmed', nextTryAtMs: null };
  return context.hangup === 'unconfirmed' ? { hangup: 'none', nextTryAtMs } : {};
}

/** The outcome of the hang-up when the call is over. */
function hangupWhenOver({ hangup }: CallRecord): Hangup {
  return hangup === 'asked' ? 'confirmed' : 'already_over';
}

/**
 * The rules of one call at a provider (docs/contract.md, section 5.10). CREATE makes its record, which is the machine's context; it is `creating`
 * until the provider has answered and its events are heard, then `open`, then `closing` until the provider has confirmed the hang-up, then `closed`.
 * It reads no clock and asks nobody: each event carries its time, and the node that holds the call asks the provider when the record says so
 * (`nextTryAtMs`).
 */
export function createVoiceCallMachine(limits: CallLimits) {
  /** The first reason stays. */
  const because = ({ context, event }: At, closeReason: CloseReason): Partial<CallRecord> =>
    context.closeReason === null ? { closeReason, graceUntilMs: graceEndMs(closeReason, event.at, limits) } : {};

  /** A provider that has not answered yet cannot be asked to hang up. */
  const closing = (at: At, reason: CloseReason): Partial<CallRecord> => {
    const { providerCallId, providerEndsAtMs, hangup } = at.context;
    const tries = providerCallId === null ? {} : tryFrom(at.event.at, providerEndsAtMs);
    const nobodyAsks = hangup === 'unconfirmed' ? { nextTryAtMs: null } : {};
    const closingAtMs = at.event.at;
    return changed(at.context, { state: 'closing', closingAtMs, ...because(at, reason), ...tries, ...nobodyAsks });
  };

  const closed = (at: At, hangup: Hangup, reason: CloseReason = 'lost'): Partial<CallRecord> =>
    changed(at.context, {
      state: 'closed',
      closedAtMs: at.event.at,
      hangup,
      nextTryAtMs: null,
      unheardSinceMs: null,
      giveUpAtMs: null,
      ...because(at, reason),
    });

  const unheard = (sinceMs: number): Partial<CallRecord> => ({
    unheardSinceMs: sinceMs,
    giveUpAtMs: unheardEndMs(sinceMs, limits),
  });

  return setup({
    types: {
      context: {} as CallRecord,
      events: {} as CallEvent,
      emitted: {} as CallFact,
    },
    guards: {
      isPages: () => limits.returnSec !== undefined,
      isReturned: ({ context }) => limits.returnSec !== undefined && context.hangup !== 'unconfirmed',
      isCreated: ({ context }) => context.providerCallId !== null,
      isUncreated: ({ context }) => context.providerCallId === null,
      isAsked: ({ context }) => context.providerCallId !== null && context.hangup !== 'unconfirmed',
      isHeard: ({ context }) => context.unheardSinceMs === null,
      isUnheard: ({ context }) => context.unheardSinceMs !== null,
      isNotWrappedUp: ({ context }) => context.wrappedUpAtMs === null,
      isGivenUp: ({ context, event }) => event.at >= (context.giveUpAtMs ?? Infinity),
      isHangupGivenUp: ({ context, event }) =>
        context.providerCallId !== null && event.at >= (context.giveUpAtMs ?? Infinity),
      isPastProvidersEnd: ({ context, event }) => event.at >= (context.providerEndsAtMs ?? Infinity),
      provesOver: ({ context, event }) => provesOver(context, event),
      isNotSaidOver: ({ context }) => context.providerCallId !== null && context.overAtMs === null,
      isSaidOver: ({ context, event }) => context.overAtMs !== null && event.at >= context.overAtMs,
      hasGrace: ({ context }) => context.graceUntilMs !== null,
      isAwaitedLonger: ({ context, event }) =>
        event.type === 'AWAITED' && event.untilMs > (awaitedUntilMs(context) ?? Infinity),
      isGraceOver: ({ context, event }) => event.at >= (context.graceUntilMs ?? Infinity),
    },
    actions: {
      create: assign(({ event }) => {
        assertEvent(event, 'CREATE');
        const { at, terms, node, giveUpAtMs } = event;
        return {
          ...terms,
          state: 'creating',
          providerCallId: null,
          createdAtMs: at,
          openedAtMs: null,
          closingAtMs: null,
          closedAtMs: null,
          closeReason: null,
          hangup: 'none',
          hangupTries: 0,
          ...NOTHING_SAID,
          nextTryAtMs: null,
          unheardSinceMs: null,
          giveUpAtMs,
          providerEndsAtMs: null,
          graceUntilMs: null,
          wrappedUpAtMs: null,
          ownerNode: node,
          fence: 1,
          version: 1,
        } satisfies CallRecord;
      }),
      noteCreated: assign(({ context, event }) => {
        assertEvent(event, 'CREATED');
        const { providerCallId, providerEndsAtMs } = event;
        return changed(context, { providerCallId, providerEndsAtMs });
      }),
      tryHangup: assign(({ context, event }) => tryFrom(event.at, context.providerEndsAtMs)),
      open: assign(({ context, event }) => changed(context, { state: 'open', openedAtMs: event.at, giveUpAtMs: null })),
      noteHeard: assign(({ context }) => changed(context, { unheardSinceMs: null, giveUpAtMs: null })),
      noteWrappedUp: assign(({ context, event }) => changed(context, { wrappedUpAtMs: event.at })),
      noteUnheard: assign(({ context, event }) => changed(context, unheard(event.at))),
      // After a hang-up was asked for, losing the sideband opens no gap: what is still said ends with the call.
      noteUnheardClosing: assign(({ context, event }) =>
        changed(context, context.hangup === 'none' ? { unheardSinceMs: event.at } : {}),
      ),
      closeAsRequested: assign((at) => {
        assertEvent(at.event, 'CLOSE');
        return closing(at, at.event.reason);
      }),
      closeAsFailed: assign((at) => closing(at, 'create_failed')),
      closeAsUnheard: assign((at) => closing(at, 'unheard')),
      closeAsExpired: assign((at) => closing(at, 'expired')),
      noteAnswer: assign((at) => changed(at.context, answeredHangup(at.context, at.event, limits))),
      noteSaidOver: assign(({ context, event }) => changed(context, saidOver(context, event.at, 'sideband', limits))),
      closeAsSaidOver: assign((at) => {
        assertEvent(at.event, 'OVER');
        return { ...closing(at, at.event.reason), ...saidOver(at.context, at.event.at, 'sideband', limits) };
      }),
      closeUnanswered: assign((at) => ({
        ...closing(at, 'create_failed'),
        ...saidOver(at.context, at.event.at, 'sideband', limits),
      })),
      // The call goes on, so earlier reports that it is over no longer count.
      noteAlive: assign(({ context }) => changed(context, NOTHING_SAID)),
      endAsAnswered: assign((at) => ({
        ...closed(at, hangupWhenOver(at.context)),
        hangupTries: at.context.hangupTries + 1,
      })),
      endAsOver: assign((at) => {
        assertEvent(at.event, 'OVER');
        return closed(at, hangupWhenOver(at.context), at.event.reason);
      }),
      endUnanswered: assign((at) => closed(at, 'already_over', 'create_failed')),
      endUncreated: assign((at) => closed(at, 'none', 'create_failed')),
      endQuiet: assign((at) => closed(at, 'confirmed')),
      endUnconfirmed: assign((at) => closed(at, 'unconfirmed')),
      take: assign((at) => changed(at.context, taken(at))),
      takeAwaited: assign((at) => changed(at.context, { ...taken(at), ...askedBy(at, null) })),
      // A page opened a call again that was hung up: the next try comes at once.
      tryAtOnce: assign(({ context, event }) => changed(context, { ...NOTHING_SAID, nextTryAtMs: event.at })),
      takeClosing: assign((at) => {
        assertEvent(at.event, 'TAKEN');
        const unheardSinceMs = untoldMs(at.context, at.event.unheardSinceMs);
        const closingAtMs = at.context.closingAtMs ?? at.event.at;
        return changed(at.context, { ...taken(at), ...askedBy(at, at.event.at), unheardSinceMs, closingAtMs });
      }),
      takeUnheard: assign((at) => {
        assertEvent(at.event, 'TAKEN');
        const { context, event } = at;
        return changed(context, {
          ...taken(at),
          ...askedBy(at, null),
          ...(context.unheardSinceMs === null ? unheard(event.unheardSinceMs) : {}),
        });
      }),
      takeAsFailed: assign((at) => ({ ...closing(at, 'create_failed'), ...taken(at), ...askedBy(at, at.event.at) })),
      awaitNext: assign(({ context, event }) => {
        assertEvent(event, 'AWAITED');
        return changed(context, { graceUntilMs: event.untilMs });
      }),
      endGrace: assign(({ context }) => changed(context, { graceUntilMs: null })),
      tellOpened: emit({ type: 'call.opened' }),
      tellClosing: emit(({ context }) => ({ type: 'call.closing', reason: context.closeReason ?? 'lost' })),
      tellClosed: emit(({ context }) => ({
        type: 'call.closed',
        reason: context.closeReason ?? 'lost',
        hangup: context.hangup,
      })),
    },
  }).createMachine({
    id: 'voice-call',
    // There is no record until CREATE makes it.
    context: {} as CallRecord,
    initial: 'uncreated',
    states: {
      uncreated: {
        on: { CREATE: { target: 'creating', actions: 'create' } },
      },
      creating: {
        on: {
          CREATED: { guard: 'isUncreated', actions: 'noteCreated' },
          CREATE_FAILED: { guard: 'isUncreated', target: 'closed', actions: 'endUncreated' },
          READY: { guard: 'isCreated', target: 'open', actions: ['open', 'tellOpened'] },
          OVER: [
            { guard: 'provesOver', target: 'closed', actions: 'endUnanswered' },
            { guard: 'isCreated', target: 'closing', actions: 'closeUnanswered' },
          ],
          CLOSE: { target: 'closing', actions: 'closeAsRequested' },
          TAKEN: [
            { guard: 'isPages', actions: 'takeAwaited' },
            // The node that would have given the browser its answer is gone.
            { target: 'closing', actions: 'takeAsFailed' },
          ],
          CLOCK: { guard: 'isGivenUp', target: 'closing', actions: 'closeAsFailed' },
        },
      },
      open: {
        on: {
          READY: { guard: 'isUnheard', actions: 'noteHeard' },
          SIDEBAND_LOST: { guard: 'isHeard', actions: 'noteUnheard' },
          WRAPPED_UP: { guard: 'isNotWrappedUp', actions: 'noteWrappedUp' },
          OVER: [
            { guard: 'provesOver', target: 'closed', actions: 'endAsOver' },
            { target: 'closing', actions: 'closeAsSaidOver' },
          ],
          CLOSE: { target: 'closing', actions: 'closeAsRequested' },
          // Nobody hears the call until the node that took it over does.
          TAKEN: { actions: 'takeUnheard' },
          CLOCK: [
            { guard: 'isPastProvidersEnd', target: 'closing', actions: 'closeAsExpired' },
            { guard: 'isGivenUp', target: 'closing', actions: 'closeAsUnheard' },
          ],
        },
      },
      closing: {
        entry: 'tellClosing',
        on: {
          CREATED: { guard: 'isUncreated', actions: ['noteCreated', 'tryHangup'] },
          CREATE_FAILED: { guard: 'isUncreated', target: 'closed', actions: 'endUncreated' },
          HANGUP_ANSWERED: [
            { guard: 'provesOver', target: 'closed', actions: 'endAsAnswered' },
            { guard: 'isAsked', actions: 'noteAnswer' },
          ],
          OVER: [
            { guard: 'provesOver', target: 'closed', actions: 'endAsOver' },
            { guard: 'isNotSaidOver', actions: 'noteSaidOver' },
          ],
          HEARD: { guard: 'isSaidOver', actions: 'noteAlive' },
          READY: { guard: 'isReturned', actions: 'tryAtOnce' },
          SIDEBAND_LOST: { guard: 'isHeard', actions: 'noteUnheardClosing' },
          TAKEN: { actions: 'takeClosing' },
          AWAITED: { guard: 'isAwaitedLonger', actions: 'awaitNext' },
          CLOCK: [
            { guard: 'provesOver', target: 'closed', actions: 'endQuiet' },
            { guard: 'isHangupGivenUp', target: 'closed', actions: 'endUnconfirmed' },
            { guard: 'isGivenUp', target: 'closed', actions: 'endUncreated' },
            { guard: 'isGraceOver', actions: 'endGrace' },
          ],
        },
      },
      /** Not final: its session may still have to end. */
      closed: {
        entry: 'tellClosed',
        on: {
          TAKEN: { guard: 'hasGrace', actions: 'take' },
          AWAITED: { guard: 'isAwaitedLonger', actions: 'awaitNext' },
          CLOCK: { guard: 'isGraceOver', actions: 'endGrace' },
        },
      },
    },
  });
}
