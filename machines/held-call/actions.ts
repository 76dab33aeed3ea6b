import { assertEvent, enqueueActions } from 'xstate';
import type { Outcome } from './outcome.ts';
import {
  begun,
  begunInVain,
  caughtUp,
  configChanged,
  cutOff,
  ended,
  heardToSpeak,
  isTampered,
  overdueCharged,
} from './response-rules.ts';
import { settledOf, withItem, withoutOneInherited, withUsage } from './responses.ts';
import {
  attached,
  charged,
  chased,
  closed,
  dialFailed,
  handedOver,
  hungUpUnsaved,
  lost,
  recorded,
  settled,
  taken,
  unsavedAnswered,
} from './rules.ts';
import { beginStep, continueSaving, savedStep, saveOver } from './saving.ts';
import { restored, toolCalled } from './strikes.ts';
import type { HeldCallCommand, HeldCallContext, HeldCallEvent, Responses } from './types.ts';

type EventType = HeldCallEvent['type'];
type Of<T extends EventType> = Extract<HeldCallEvent, { readonly type: T }>;

/** Does what a rule says. A page that may go no further has its call closed. */
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
    if (isTampered(context, call)) enqueue.raise({ type: 'CLOSE', at: event.at, reason: 'tampered' });
  });
}

/** Does what a rule says of these events. */
function by<T extends EventType>(types: T | readonly T[], rule: (call: HeldCallContext, event: Of<T>) => Outcome) {
  return always((call, event) => {
    const asserted: HeldCallEvent = event;
    assertEvent(asserted, types);
    return rule(call, event as Of<T>);
  });
}

const only = (call: HeldCallContext): Outcome => [call, []];

/** Changes what is known of responses, and nothing else. */
function withResponses<T extends EventType>(types: T, change: (responses: Responses, event: Of<T>) => Responses) {
  return by(types, (call, event) => only({ ...call, responses: change(call.responses, event) }));
}

export const actions = {
  noteCreated: by('CREATED', (call, { at, providerCallId, providerEndsAtMs }) =>
    only({ ...call, created: { at, providerCallId, providerEndsAtMs } }),
  ),
  noteRecord: by('RECORD', recorded),
  keepRecord: by('RECORD', (call, { record }) => only({ ...call, record })),
  take: by('TAKEN', taken),
  letGo: always(closed),
  handOver: by('HAND_OVER', handedOver),
  tellAlive: always((call) => [call, [{ type: 'saveAlive' }]]),
  settle: always((call, { at }) => settled(call, at)),

  dial: always((call) => [call, [{ type: 'dial' }]]),
  attach: by('ATTACHED', (call, event) => caughtUp(attached(call, event), event.at)),
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
  noteIdle: withResponses('CONVERSATION_IDLE', withoutOneInherited),
  noteToolCalled: withResponses('TOOL_CALLED', (responses) => ({
    ...responses,
    strikes: toolCalled(responses.strikes),
  })),
  putBack: by('CONFIG_CHANGED', configChanged),
  noteRestored: withResponses('CONFIG_RESTORED', (responses) => ({
    ...responses,
    strikes: restored(responses.strikes),
  })),
  grant: withResponses('GRANTED', (responses, { tokens }) => ({ ...responses, grantedTokens: tokens })),
  cutOff: always((call, { at }) => cutOff(call, at)),
  chargeOverdue: always((call, { at }) => overdueCharged(call, at)),
  chargeAll: always((call, { at }) => charged(call, settledOf(call.responses, call.terms, at))),
};
