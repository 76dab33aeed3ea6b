import { setup } from 'xstate';
import { actions } from './actions.ts';
import { isQuiet, noResponses } from './responses.ts';
import { hasNews, nextStep, savedStep } from './rules.ts';
import { mayDial } from './selectors.ts';
import type { HeldCallCommand, HeldCallContext, HeldCallEvent, HeldCallInput } from './types.ts';

interface At {
  readonly context: HeldCallContext;
  readonly event: HeldCallEvent;
}

/** The event's record, if it is newer than the known one. */
function newerRecord({ context, event }: At) {
  return event.type === 'RECORD' && event.record.version > context.record.version ? event.record : undefined;
}

const guards = {
  isClosed: (at: At) => newerRecord(at)?.state === 'closed',
  isAnothers: (at: At) => (newerRecord(at)?.fence ?? at.context.fence) !== at.context.fence,
  isNewer: (at: At) => newerRecord(at) !== undefined,
  isClosing: ({ context }: At) => context.record.state === 'closing',
  isToEnd: ({ context }: At) => context.end.said !== null || context.end.wanted !== null,
  isToGoOn: ({ context }: At) => context.end.said === null && context.end.wanted === null,
  needsSideband: ({ context }: At) => context.needsSideband,
  mayDial: ({ context, event }: At) => mayDial(context, event),
  mayHear: ({ event }: At) => event.type === 'CLOCK' && event.mayHear,
  // Commands emitted while a machine starts reach nobody, so saving starts with its first event.
  hasNews: ({ context, event }: At) => (event.type as string) !== 'xstate.init' && hasNews(context),
  isBehind: ({ context }: At) => nextStep(context) !== undefined,
  isNothingToSave: ({ context }: At) => context.saving === null,
  hasNextStep: ({ context }: At) => nextStep(savedStep(context), context.saving?.step ?? null) !== undefined,
  hasMoreToSave: ({ context }: At) => context.isMoreToSave && nextStep(savedStep(context)) !== undefined,
  hasMoreToTry: ({ context }: At) => context.isMoreToSave,
  isStillBehind: ({ context }: At) => nextStep(savedStep(context)) !== undefined,
  isSavingOver: ({ context }: At) => context.saving?.step === 'over',
  isSaidOver: ({ context }: At) => context.record.overAtMs !== null,
  hasOpen: ({ context }: At) => !isQuiet(context.responses),
  isQuiet: ({ context }: At) => isQuiet(context.responses),
};

/** The state of a call when this node begins to hold it. */
function heldCallContext(input: HeldCallInput): HeldCallContext {
  return {
    ...input,
    fence: input.record.fence,
    created: null,
    sideband: { heardAtMs: null, lostAtMs: null, failures: 0, dialAtMs: -Infinity, isLeft: false },
    end: {
      said: null,
      wanted: null,
      closingAtMs: null,
      dueSinceMs: null,
      unsaved: { tries: 0, isAsked: false, tryAtMs: -Infinity, doneAtMs: null },
    },
    gaps: { closingSinceMs: null, wentAtMs: null, toldSinceMs: -Infinity },
    responses: noResponses(input.terms),
    silence: { sinceMs: null, isVisitorSpeaking: false, isAgentSpeaking: false, isToolCalled: false, isAsked: false },
    ending: null,
    saving: null,
    isMoreToSave: false,
  };
}

/** Events other than CLOCK that may make something worth saving. */
const toSave = (transition: object | readonly object[]) => ({
  CLOSE: transition,
  OVER: transition,
  ATTACHED: transition,
  DIAL_FAILED: transition,
  SIDEBAND_LOST: transition,
});

/**
 * The rules of one call that a node holds (docs/architecture.md, section 9): how it is heard, keeping its record up to date, how it ends, and which
 * responses are running. The rules of the saved record are in `voice-call`; this machine's state is never saved. It reads no clock and asks nobody:
 * each event carries its time, and what is to be done is emitted as a command.
 */
export const heldCallMachine = setup({
  types: {
    context: {} as HeldCallContext,
    events: {} as HeldCallEvent,
    input: {} as HeldCallInput,
    emitted: {} as HeldCallCommand,
  },
  guards,
  actions,
}).createMachine({
  id: 'held-call',
  context: ({ input }) => heldCallContext(input),
  initial: 'held',
  states: {
    held: {
      type: 'parallel',
      on: {
        CREATED: { actions: 'noteCreated' },
        RECORD: [
          { guard: 'isAnothers', target: 'released', actions: 'keepRecord' },
          { guard: 'isClosed', target: 'over', actions: 'noteRecord' },
          { guard: 'isNewer', actions: 'noteRecord' },
        ],
        ALIVE: { guard: 'isSaidOver', actions: 'tellAlive' },
        SETTLE: { actions: 'settle' },
        RELEASE: { target: 'released' },
      },
      states: {
        sideband: {
          initial: 'undialled',
          on: { HAND_OVER: { target: '.closed', actions: 'handOver' } },
          states: {
            undialled: { on: { DIAL: 'dialling', TAKEN: { guard: 'needsSideband', target: 'lost' } } },
            dialling: {
              on: {
                ATTACHED: { target: 'heard', actions: 'attach' },
                DIAL_FAILED: { target: 'lost', actions: 'noteDialFailed' },
              },
            },
            heard: {
              on: {
                SIDEBAND_LOST: { target: 'lost', actions: 'noteLost' },
                LEASE_LOST: { target: 'dropped', actions: 'noteLost' },
              },
            },
            lost: {
              on: {
                DIAL: 'dialling',
                CLOCK: { guard: 'mayDial', target: 'dialling', actions: 'dial' },
                SAVED: { guard: 'mayDial', target: 'dialling', actions: 'dial' },
                LEASE_LOST: 'dropped',
              },
            },
            dropped: {
              on: {
                DIAL: 'dialling',
                CLOCK: [
                  { guard: 'mayDial', target: 'dialling', actions: 'dial' },
                  { guard: 'mayHear', target: 'lost' },
                ],
                SAVED: { guard: 'mayDial', target: 'dialling', actions: 'dial' },
              },
            },
            closed: {},
          },
        },
        record: {
          initial: 'saved',
          states: {
            saved: {
              always: { guard: 'hasNews', target: 'saving' },
              on: { CLOCK: { guard: 'isBehind', target: 'saving' } },
            },
            saving: {
              entry: 'beginSaving',
              // The same event may have undone what was to be saved.
              always: { guard: 'isNothingToSave', target: 'saved' },
              on: {
                HANGUPS_SETTLED: { guard: 'isSavingOver', actions: 'saveOver' },
                SAVED: [
                  { guard: 'hasNextStep', actions: 'continueSaving' },
                  { guard: 'hasMoreToSave', target: 'saving', reenter: true, actions: 'finishSaving' },
                  { guard: 'isStillBehind', target: 'behind', actions: 'finishSaving' },
                  { target: 'saved', actions: 'finishSaving' },
                ],
                SAVE_FAILED: [
                  { guard: 'hasMoreToTry', target: 'saving', reenter: true, actions: 'hangUpIfAway' },
                  { target: 'behind', actions: ['stopSaving', 'hangUpIfAway'] },
                ],
                ...toSave({ actions: 'noteMoreToSave' }),
              },
            },
            behind: {
              on: {
                CLOCK: [{ guard: 'isBehind', target: 'saving' }, { target: 'saved' }],
                // The node that takes the call next learns only from the record since when nobody has heard it.
                HAND_OVER: [{ guard: 'isBehind', target: 'saving' }, { target: 'saved' }],
                ...toSave([{ guard: 'isBehind', target: 'saving' }, { target: 'saved' }]),
              },
            },
          },
        },
        end: {
          initial: 'none',
          on: {
            CLOSE: { actions: 'want' },
            OVER: { actions: 'noteSaid' },
            UNSAVED_HANGUP_ANSWERED: { actions: 'noteUnsavedAnswer' },
          },
          states: {
            none: {
              always: [
                { guard: 'isClosing', target: 'asking' },
                { guard: 'isToEnd', target: 'wanted' },
              ],
            },
            wanted: {
              always: [
                { guard: 'isClosing', target: 'asking' },
                { guard: 'isToGoOn', target: 'none' },
              ],
            },
            asking: { on: { CLOCK: { actions: 'chase' } } },
          },
        },
        responses: {
          initial: 'quiet',
          on: {
            TAKEN: { actions: 'take' },
            RESPONSE_STARTED: { actions: 'admit' },
            RESPONSE_DONE: { actions: 'noteDone' },
            RESPONSE_HEARD: { actions: 'noteHeard' },
            USAGE: { actions: 'noteUsage' },
            ITEM_ADDED: { actions: 'noteItem' },
            CONVERSATION_IDLE: { actions: 'noteIdle' },
            RESPONSE_WANTED: { actions: 'wantResponse' },
            ANSWER_TAKEN: { actions: 'noteAnswerTaken' },
            LAST_WORDS: { actions: 'noteLastWords' },
            RESPONSE_REFUSED: { actions: 'noteRefused' },
            INTERRUPT: { actions: 'interrupt' },
            TOOL_CALLED: { actions: 'noteToolCalled' },
            CONFIG_CHANGED: { actions: 'putBack' },
            CONFIG_RESTORED: { actions: 'noteRestored' },
            GRANTED: { actions: 'grant' },
            SPEECH: { actions: 'noteSpeech' },
            WORDS: { actions: 'noteWords' },
            CLOCK: { actions: ['chargeOverdue', 'askWhoIsThere', 'endOverdue'] },
            CANCEL_SPEECH: { target: '.cancelling', actions: 'cutOff' },
            CUT_OFF: { actions: 'cutOff' },
            SETTLE_RESPONSES: { actions: 'chargeAll' },
          },
          states: {
            quiet: { always: { guard: 'hasOpen', target: 'running' } },
            running: { always: { guard: 'isQuiet', target: 'quiet' } },
            /** The call is about to be hung up: every response that starts is cut off. */
            cancelling: { on: { RESPONSE_STARTED: { actions: 'cutShort' } } },
          },
        },
      },
    },
    /** The provider has confirmed the end, and the record says so. */
    over: { type: 'final', entry: 'letGo' },
    /** Another node holds the call, or no node does. */
    released: { type: 'final', entry: 'letGo' },
  },
});
