import type { AuthLimits } from '../../../machines/auth-session/types.ts';
import type { CallLimits } from '../../../machines/voice-call/types.ts';
import { FAILING_MS, FAILURES } from '../../../machines/webhook-endpoint/selectors.ts';
import type { VoiceLimits } from '../../../machines/voice-session/types.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { MachineName } from '../../stores/journal/contract.ts';

/** The limits of this installation's machines, which appear as numbers in the wording. */
export interface MachineLimits {
  readonly voice: VoiceLimits;
  readonly calls: CallLimits;
  readonly otp: { readonly expiryMinutes: number; readonly maxAttempts: number };
  readonly auth: AuthLimits;
}

/** Machines that are drawn: those whose events are kept in the journal, and four others. */
export type DrawnMachine = MachineName | 'held-call' | 'tool-call' | 'webhook-endpoint' | 'budget';

type Words = Readonly<Record<string, string>>;

/** Every event and every guard of each machine in at most 16 characters, which is the room in a chart. */
const wordings: Readonly<Record<DrawnMachine, (limits: MachineLimits) => Words>> = {
  'voice-session': ({ voice }) => ({
    OPEN: 'opened',
    HEARTBEAT: 'heartbeat',
    ACTIVITY: 'activity',
    HEARD: 'call heard',
    SPOKE: 'visitor heard',
    END: 'asked to end',
    CLOCK: 'clock',
    '*': 'anything else',
    isAfterDeadline: 'after deadline',
    isBeforeDeadline: 'before deadline',
    areWordsDue: 'words are due',
    isPastDuration: `${minutes(voice.maxMinutes)} over`,
    hasGoneIdle: `silent > ${seconds(voice.maxIdleSec)}`,
    hasGoneStale: `silent > ${seconds(voice.staleGraceSec)}`,
    isAbandoned: `stale > ${seconds(voice.staleReapSec)}`,
  }),
  'voice-call': ({ calls }) => ({
    CREATE: 'asked for',
    CREATED: 'created',
    CREATE_FAILED: 'not created',
    READY: 'heard',
    SIDEBAND_LOST: 'not heard',
    AWAITED: 'next awaited',
    WRAPPED_UP: 'goodbye said',
    CLOSE: 'asked to close',
    HANGUP_ANSWERED: 'hang-up tried',
    OVER: 'provider: over',
    HEARD: 'heard after all',
    TAKEN: 'node took over',
    CLOCK: 'clock',
    isPages: 'page opens it',
    isReturned: 'may be reopened',
    isCreated: 'provider has it',
    isUncreated: 'no answer so far',
    isAsked: 'can be asked',
    isHeard: 'was heard',
    isUnheard: 'was not heard',
    isNotWrappedUp: 'first goodbye',
    isGivenUp: 'given up',
    isHangupGivenUp: 'not confirmed',
    isPastProvidersEnd: 'longest time',
    provesOver: 'proved over',
    isSaidOver: 'was said over',
    isNotSaidOver: 'first word',
    hasGrace: 'session waits',
    isAwaitedLonger: 'for longer',
    isGraceOver: `${seconds(calls.graceSec)} of grace`,
  }),
  'tool-call': () => ({
    ASK: 'asked',
    STARTED: 'request leaves',
    ANSWERED: 'server answered',
    FAILED: 'no answer',
    REFUSED: 'not sent',
    TAKEN: 'node took over',
    CALL_CLOSED: 'voice call over',
    CLOCK: 'clock',
    isLate: 'time is over',
    isNewer: 'newer owner',
  }),
  budget: () => ({
    USED: 'so much is used',
    CLOCK: 'clock',
    isOver: 'period is over',
    isOutdated: 'before a change',
    isSpent: 'nothing is left',
    isHigher: 'next threshold',
    isCleared: 'raised far',
    isLeftAgain: 'raised',
    isNewer: 'was changed',
  }),
  'held-call': () => ({
    CREATED: 'created',
    TAKEN: 'taken over',
    CLOSE: 'asked to close',
    DIAL: 'dialled first',
    ATTACHED: 'attached',
    DIAL_FAILED: 'dialled in vain',
    SIDEBAND_LOST: 'connection lost',
    LEASE_LOST: 'lease lost',
    HAND_OVER: 'handed over',
    RELEASE: 'let go of',
    OVER: 'provider: over',
    ALIVE: 'heard after all',
    RECORD: 'record read',
    SAVED: 'saved',
    SAVE_FAILED: 'database away',
    HANGUPS_SETTLED: 'tries answered',
    UNSAVED_HANGUP_ANSWERED: 'try answered',
    CANCEL_SPEECH: 'about to hang up',
    CUT_OFF: 'node stops',
    SETTLE: 'about to close',
    SETTLE_RESPONSES: 'left alone',
    CLOCK: 'clock',
    RESPONSE_STARTED: 'response begins',
    RESPONSE_DONE: 'response ends',
    RESPONSE_HEARD: 'response heard',
    USAGE: 'usage',
    ITEM_ADDED: 'item added',
    CONVERSATION_IDLE: 'none talks',
    RESPONSE_WANTED: 'response wanted',
    ANSWER_TAKEN: 'answer taken',
    LAST_WORDS: 'last words',
    RESPONSE_REFUSED: 'response refused',
    INTERRUPT: 'interrupted',
    TOOL_CALLED: 'tool called',
    SPEECH: 'somebody talks',
    WORDS: 'visitor’s words',
    CONFIG_CHANGED: 'page changed it',
    CONFIG_RESTORED: 'put back',
    GRANTED: 'size granted',
    isClosed: 'is closed',
    isAnothers: 'another node’s',
    isNewer: 'is newer',
    isClosing: 'record: closing',
    isToEnd: 'is to end',
    isToGoOn: 'goes on',
    needsSideband: 'must be heard',
    mayDial: 'time to dial',
    mayHear: 'lease held',
    hasNews: 'news to save',
    isBehind: 'record behind',
    isNothingToSave: 'nothing to save',
    hasNextStep: 'next to save',
    hasMoreToSave: 'more came up',
    hasMoreToTry: 'more to try',
    isStillBehind: 'still behind',
    isSavingOver: 'saves its end',
    isSaidOver: 'was said over',
    hasOpen: 'some run',
    isQuiet: 'none runs',
  }),
  'webhook-endpoint': () => ({
    ADD: 'added',
    DELIVERED: 'delivered',
    FAILED: 'not delivered',
    GONE: 'answered 410',
    PROBE: 'about to probe',
    DISABLE: 'switched off',
    ENABLE: 'switched on',
    CLOCK: 'clock',
    hasFailures: 'failed before',
    isLastFailure: `${FAILURES} in a row`,
    isProbeDue: 'probe is due',
    isGivenUp: `failed for ${FAILING_MS / DAY_MS} d`,
  }),
  'otp-challenge': ({ otp }) => ({
    ISSUE: 'code sent',
    REDEEM: 'code entered',
    SUPERSEDE: 'newer code',
    CLOCK: 'clock',
    hasExpired: `${minutes(otp.expiryMinutes)} over`,
    isKeptForAsker: 'kept for asker',
    codeMatches: 'right code',
    isLastAttempt: `${otp.maxAttempts} wrong codes`,
  }),
  'auth-session': ({ auth }) => ({
    OPEN: 'logged in',
    ACTIVITY: 'request',
    DESTROY: 'asked to end',
    CLOCK: 'clock',
    // With an absolute cap, either of the two times may have expired first.
    hasExpired: auth.absoluteHours === 0 ? `${auth.expiryHours} h unused` : 'expired',
    isRenewalDue: '1 min passed',
  }),
};

export function machineWords(machine: DrawnMachine, limits: MachineLimits): Words {
  return wordings[machine](limits);
}

/** Seconds in words: as hours where they are whole hours, as about so many hours from 100,000 seconds on. */
function seconds(count: number): string {
  if (count > 0 && count % 3600 === 0) return `${count / 3600} h`;
  return count > 99_999 ? `≈${Math.round(count / 3600)} h` : `${count} s`;
}

function minutes(count: number): string {
  return count % 60 === 0 ? `${count / 60} h` : `${count} min`;
}
