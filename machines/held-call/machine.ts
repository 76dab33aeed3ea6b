import { setup } from 'xstate';
import { actions } from './actions.ts';
import { heldCallContext } from './context.ts';
import { guards } from './guards.ts';
import type { HeldCallCommand, HeldCallContext, HeldCallEvent, HeldCallInput } from './types.ts';

/** What comes up beside the clock that may have to be saved. */
const toSave = (transition: object | readonly object[]) => ({
  CLOSE: transition,
  OVER: transition,
  ATTACHED: transition,
  DIAL_FAILED: transition,
  SIDEBAND_LOST: transition,
});

/**
 * The rules of one call that a node holds (docs/architecture.md, section 9): how it is heard, that its record says what is known, how it
 * comes to its end, and which responses run. What the saved record says of the call is `voice-call`'s; this one is never saved. It reads
 * no clock and asks nobody: each event carries its time, and what is to be done is emitted as a command.
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
                // Whoever takes the call next learns from the record alone since when nobody hears it.
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
            TOOL_CALLED: { actions: 'noteToolCalled' },
            CONFIG_CHANGED: { actions: 'putBack' },
            CONFIG_RESTORED: { actions: 'noteRestored' },
            GRANTED: { actions: 'grant' },
            CLOCK: { actions: 'chargeOverdue' },
            CANCEL_SPEECH: { target: '.cancelling', actions: 'cutOff' },
            CUT_OFF: { actions: 'cutOff' },
            SETTLE_RESPONSES: { actions: 'chargeAll' },
          },
          states: {
            quiet: { always: { guard: 'hasOpen', target: 'running' } },
            running: { always: { guard: 'isQuiet', target: 'quiet' } },
            /** The call is about to be hung up: whatever begins is cut off. */
            cancelling: { on: { RESPONSE_STARTED: { actions: 'cutShort' } } },
          },
        },
      },
    },
    /** The provider has confirmed the end, and the record says so. */
    over: { type: 'final', entry: 'letGo' },
    /** Another node holds the call, or none. */
    released: { type: 'final', entry: 'letGo' },
  },
});
