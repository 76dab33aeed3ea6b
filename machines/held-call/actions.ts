import { assertEvent, enqueueActions } from 'xstate';
import {
  answerTaken,
  asked,
  askedWhoIsThere,
  endedByClock,
  heardAnew,
  lastBegun,
  lastDone,
  lastHeard,
  lastWords,
  refused,
  spoken,
  wanting,
  withSilence,
  withWish,
  written,
} from './conversation.ts';
import {
  doneOf,
  heardOf,
  isOverdue,
  isQuiet,
  kindOf,
  overdueOf,
  runningOf,
  settledOf,
  started,
  withCancelled,
  withItem,
  withoutOneInherited,
  withUsage,
} from './responses.ts';
import {
  attached,
  beginStep,
  charged,
  chased,
  closed,
  continueSaving,
  dialFailed,
  handedOver,
  hungUpUnsaved,
  inOrder,
  isHeard,
  lost,
  recorded,
  savedStep,
  saveOver,
  settled,
  taken,
  unsavedAnswered,
} from './rules.ts';
import { changed, isStruckOut, restored, struck, toolCalled, type Strikes } from './strikes.ts';
import type { EventOf, HeldCallCommand, HeldCallContext, HeldCallEvent, Responses, Outcome } from './types.ts';

type EventType = HeldCallEvent['type'];

/** Applies a rule. Also closes the call if its page has used up its strikes, or if its last words were heard after a tool ended the session. */
function always(rule: (call: HeldCallContext, event: HeldCallEvent) => Outcome) {
  return enqueueActions<
    HeldCallContext,
    HeldCallEvent,
    undefined,
    HeldCallEvent,
    never,
    never,
    never,
    never,
    HeldCallCommand
  >(({ context, event, enqueue }) => {
    const [call, commands] = rule(context, event);
    if (call !== context) enqueue.assign(() => call);
    for (const command of commands) enqueue.emit(command);
    if (isStruckOut(context.responses.strikes, call.responses.strikes))
      enqueue.raise({ type: 'CLOSE', at: event.at, reason: 'tampered' });
    if (call.ending?.isOver === true && context.ending?.isOver !== true)
      enqueue.raise({ type: 'CLOSE', at: event.at, reason: 'tool_ended' });
  });
}

/** Applies a rule to events of these types. */
function by<T extends EventType>(types: T | readonly T[], rule: (call: HeldCallContext, event: EventOf<T>) => Outcome) {
  return always((call, event) => {
    const asserted: HeldCallEvent = event;
    assertEvent(asserted, types);
    return rule(call, event as EventOf<T>);
  });
}

const only = (call: HeldCallContext): Outcome => [call, []];

/** Changes what is known about responses, and nothing else. */
function withResponses<T extends EventType>(types: T, change: (responses: Responses, event: EventOf<T>) => Responses) {
  return by(types, (call, event) => only({ ...call, responses: change(call.responses, event) }));
}

export const actions = {
  noteCreated: by('CREATED', (call, { at, providerCallId, providerEndsAtMs }) =>
    only({ ...call, created: { at, providerCallId, providerEndsAtMs } }),
  ),
  noteRecord: by('RECORD', (call, event) => inOrder(call, (present) => recorded(present, event), asked)),
  keepRecord: by('RECORD', (call, { record }) => only({ ...call, record })),
  take: by('TAKEN', taken),
  letGo: always(closed),
  handOver: by('HAND_OVER', handedOver),
  tellAlive: always((call) => [call, [{ type: 'saveAlive' }]]),
  settle: always((call, { at }) => settled(call, at)),

  dial: always((call) => [call, [{ type: 'dial' }]]),
  attach: by('ATTACHED', (call, event) =>
    inOrder(heardAnew(call, event.at), (present) => caughtUp(attached(present, event), event.at), asked),
  ),
  noteDialFailed: by('DIAL_FAILED', (call, event) => only(dialFailed(call, event))),
  noteLost: by(['SIDEBAND_LOST', 'LEASE_LOST'], lost),

  beginSaving: always((call, event) => beginStep({ ...call, isMoreToSave: false }, event, null)),
  continueSaving: always(continueSaving),
  saveOver: always(saveOver),
  finishSaving: always((call) => only({ ...savedStep(call), saving: null })),
  stopSaving: always((call) => only({ ...call, saving: null })),
  noteMoreToSave: always((call) => only({ ...call, isMoreToSave: true })),

  want: by('CLOSE', (call, { reason }) => only({ ...call, end: { ...call.end, wanted: call.end.wanted ?? reason } })),
  noteSaid: by('OVER', (call, { reason }) => only({ ...call, end: { ...call.end, said: call.end.said ?? reason } })),
  chase: always((call, { at }) => chased(call, at)),
  hangUpIfAway: by('SAVE_FAILED', (call, { at, isAway }) =>
    isAway && call.end.wanted !== null ? hungUpUnsaved(call, at) : only(call),
  ),
  noteUnsavedAnswer: by('UNSAVED_HANGUP_ANSWERED', (call, event) => only(unsavedAnswered(call, event))),

  admit: by('RESPONSE_STARTED', begun),
  cutShort: by('RESPONSE_STARTED', begunInVain),
  noteDone: by('RESPONSE_DONE', ended),
  noteHeard: by('RESPONSE_HEARD', heardToSpeak),
  noteUsage: withResponses('USAGE', (responses, { id, tokens }) => withUsage(responses, id, tokens)),
  noteItem: withResponses('ITEM_ADDED', (responses, { id, tokens }) => withItem(responses, id, tokens)),
  noteIdle: by('CONVERSATION_IDLE', (call) => asked({ ...call, responses: withoutOneInherited(call.responses) })),
  wantResponse: by('RESPONSE_WANTED', (call, { instructions }) => asked(wanting(call, instructions))),
  noteAnswerTaken: by('ANSWER_TAKEN', answerTaken),
  noteLastWords: by('LAST_WORDS', (call, { at }) => only(lastWords(call, at))),
  noteRefused: by('RESPONSE_REFUSED', refused),
  interrupt: by('INTERRUPT', interrupted),
  noteToolCalled: by('TOOL_CALLED', (call) => only(withSilence(withStrikes(call, toolCalled), { isToolCalled: true }))),
  noteSpeech: by('SPEECH', (call, event) => only(lastHeard(spoken(call, event), event))),
  noteWords: by('WORDS', (call, { at }) => only(written(call, at))),
  askWhoIsThere: always((call, { at }) => askedWhoIsThere(call, at)),
  putBack: by('CONFIG_CHANGED', configChanged),
  noteRestored: withResponses('CONFIG_RESTORED', (responses) => ({
    ...responses,
    strikes: restored(responses.strikes),
  })),
  grant: withResponses('GRANTED', (responses, { tokens }) => ({ ...responses, grantedTokens: tokens })),
  cutOff: always((call, { at }) => cutOff(call, at)),
  chargeOverdue: always((call, { at }) =>
    isOverdue(call.responses, at)
      ? inOrder(call, (present) => charged(present, overdueOf(present.responses, present.terms, at)), asked)
      : only(call),
  ),
  endOverdue: always((call, { at }) => endedByClock(call, at)),
  chargeAll: always((call, { at }) => charged(call, settledOf(call.responses, call.terms, at))),
};

// What happens to responses: they are kept within what the page may have, cut off at the call's end, and charged where nobody reported their cost.

function begun(call: HeldCallContext, { at, response, isAffordable }: EventOf<'RESPONSE_STARTED'>): Outcome {
  const { responses, terms } = call;
  const kind = kindOf(responses, terms, response);
  const isAdmitted = kind === 'ordinary' || (kind === 'extra' && isAffordable);
  return inOrder(
    lastBegun(
      withSilence({ ...call, responses: started(responses, terms, response, at) }, { isToolCalled: false }),
      response,
      at,
    ),
    (present) => (isAdmitted ? [present, []] : cancelled(present, [response.id], at)),
    (present) => [isAdmitted && !responses.strikes.isChanged ? present : withStrikes(present, struck), []],
  );
}

/** In a call that is about to end, every response that starts is cut off. */
function begunInVain(call: HeldCallContext, { at, response }: EventOf<'RESPONSE_STARTED'>): Outcome {
  const responses = started(call.responses, call.terms, response, at);
  return cancelled({ ...call, responses }, [response.id], at);
}

function heardToSpeak(call: HeldCallContext, { at, id, tokens }: EventOf<'RESPONSE_HEARD'>): Outcome {
  const [responses, beganUnheard] = heardOf(call.responses, call.terms, id, tokens, at);
  const next = { ...call, responses };
  // A response that began while nobody heard the call was never checked against what the page may have.
  return beganUnheard ? cancelled(next, [id], at) : [next, []];
}

function ended(call: HeldCallContext, { at, id, isTold }: EventOf<'RESPONSE_DONE'>): Outcome {
  return inOrder(
    lastDone(withSilence(call, { sinceMs: at }), id, at),
    (present) => charged(present, doneOf(present.responses, present.terms, id, isTold, at)),
    (present) => [present, isQuiet(present.responses) ? [{ type: 'quiet' }] : []],
    asked,
  );
}

/** The page changed its session, which is restored where the page may change nothing. */
function configChanged(call: HeldCallContext, { at, isAsSdk }: EventOf<'CONFIG_CHANGED'>): Outcome {
  if (!call.terms.forbidsOverrides) return [call, []];
  const next = withStrikes(call, (strikes) => ({ ...changed(strikes, isAsSdk, at), isRestoreDue: !isHeard(call) }));
  return [next, isHeard(call) ? [{ type: 'restoreConfig' }] : []];
}

/** Asks responses that ran while nobody heard the call to end, and undoes what the page changed meanwhile. */
function caughtUp(call: HeldCallContext, at: number): Outcome {
  const running = runningOf(call.responses).map(({ id }) => id);
  const [next, commands] = cancelled(call, running, at);
  if (!call.responses.strikes.isRestoreDue) return [next, commands];
  return [
    withStrikes(next, (strikes) => ({ ...strikes, isRestoreDue: false })),
    [...commands, { type: 'restoreConfig' }],
  ];
}

/** Cuts off every running response, and any that another node may have left. */
function cutOff(call: HeldCallContext, at: number): Outcome {
  const { open, inherited } = call.responses;
  const ids = open.map(({ id }) => id);
  const [next, commands] = cancelled({ ...call, responses: withWish(call.responses, { wanted: null }) }, ids, at);
  return [next, isHeard(call) && inherited > 0 ? [...commands, { type: 'cancelResponse', id: undefined }] : commands];
}

/** The agent stops at once, and what it was still to say is dropped. */
function interrupted(call: HeldCallContext, { at }: EventOf<'INTERRUPT'>): Outcome {
  if (!isHeard(call)) return [call, []];
  const spoken = runningOf(call.responses).filter(({ isInConversation }) => isInConversation);
  const ids = spoken.map(({ id }) => id);
  const [next, commands] = cancelled(call, ids, at);
  // A response that was asked for may start any moment: its id is not known yet.
  const unnamed: readonly HeldCallCommand[] = next.responses.wish.isAsked
    ? [{ type: 'cancelResponse', id: undefined }]
    : [];
  const silenced = { ...next, responses: withWish(next.responses, { wanted: null, isInDoubt: false }) };
  return [silenced, [...commands, ...unnamed, { type: 'clearSpeech' }]];
}

/** Nothing can be cancelled while nobody hears the call. */
function cancelled(call: HeldCallContext, ids: readonly string[], at: number): Outcome {
  if (!isHeard(call) || ids.length === 0) return [call, []];
  const commands = ids.map((id): HeldCallCommand => ({ type: 'cancelResponse', id }));
  return [{ ...call, responses: withCancelled(call.responses, ids, at) }, commands];
}

function withStrikes(call: HeldCallContext, change: (strikes: Strikes) => Strikes): HeldCallContext {
  const { responses } = call;
  return { ...call, responses: { ...responses, strikes: change(responses.strikes) } };
}
