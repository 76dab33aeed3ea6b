import type { CallEvent, CallRecord, CloseRequest } from '../voice-call/types.ts';
import type { Ending, ResponseWish, Silence } from './conversation-facts.ts';

export type TokenCounts = Readonly<
  Record<
    'textIn' | 'textCached' | 'textOut' | 'audioIn' | 'audioCached' | 'audioOut' | 'imageIn' | 'imageCached',
    number
  >
>;

/** A response as its provider reported its start. */
export interface StartedResponse {
  readonly id: string;
  /** False for a response beside the conversation, of which many may run at once. */
  readonly isInConversation: boolean;
  /** Output tokens that it may have; Infinity where nothing limits it. */
  readonly maxOutputTokens: number;
  /** Output tokens that we allowed: the highest of our limits that may still have applied when it began. */
  readonly grantedTokens: number;
  readonly modality: 'audio' | 'text';
}

/** A response whose cost is not known yet. */
export interface OpenResponse extends Omit<StartedResponse, 'grantedTokens'> {
  /** When it began, moved later by the time in which nobody heard the call. */
  readonly sinceMs: number;
  readonly context: TokenCounts;
  /** Ids of the conversation's items when it began. */
  readonly items: readonly string[];
  /** Tokens that it was heard to say. */
  readonly heardTokens: number;
  /** When it was asked to end. */
  readonly cancelledAtMs: number | null;
}

export interface ResponseTerms {
  /** Responses that may run at once (MAX_OPEN_RESPONSES). */
  readonly max: number;
  /** Whether the page may change nothing of its session: then it may have no response beside the conversation, and none longer than granted. */
  readonly forbidsOverrides: boolean;
  /** Tokens of instructions and tools: the context until usage reports it. */
  readonly setupTokens: number;
  /** Most tokens of the conversation's items that a response reads. */
  readonly maxItemTokens: number;
  /** Most output tokens that the provider allows any response. */
  readonly maxResponseTokens: number;
}

/** What is known about the responses of one call. */
export interface Responses {
  readonly open: readonly OpenResponse[];
  /** Tokens that the next response reads, as far as usage reported them. */
  readonly context: TokenCounts;
  /** Tokens of items added since, by their ids. */
  readonly items: readonly (readonly [id: string, tokens: number])[];
  /** Tokens of further items, which are too many to be tracked one by one. */
  readonly furtherTokens: number;
  /** The last responses that ended: later reports about them do not reopen them. */
  readonly ended: readonly string[];
  /** Responses that another node may have left, whose ids nobody knows. */
  readonly inherited: number;
  readonly inheritedSinceMs: number;
  /** Output tokens that a response may have now. */
  readonly grantedTokens: number;
  /** When this node first heard the call. */
  readonly heardSinceMs: number | null;
  /** Since when nobody hears the call: that time is a gap, and no response is charged for it. */
  readonly lostAtMs: number | null;
  readonly strikes: Strikes;
  readonly wish: ResponseWish;
}

/** What a page did against its rules (docs/contract.md, section 5.10). */
export interface Strikes {
  readonly count: number;
  /** When it changed its session within the last minute. */
  readonly changedAtMs: readonly number[];
  /** Changes that the provider's own SDK may still make. */
  readonly excused: number;
  /** It changed its session, which is not restored yet. */
  readonly isChanged: boolean;
  /** It did so before there was a sideband on which to restore it. */
  readonly isRestoreDue: boolean;
}

export interface HeldCallInput {
  /** The record when this node begins to hold the call. */
  readonly record: CallRecord;
  /** Whether the call is metered by its events, so that it must be heard. */
  readonly needsSideband: boolean;
  /** Whether everything that is needed to dial a lost sideband again is known. */
  readonly isDiallable: boolean;
  readonly terms: ResponseTerms;
  /** The agent asks whether somebody is there after this much silence; null if it does not. */
  readonly askAfterMs: number | null;
}

/** What a node knows about a call that it holds. Times are milliseconds since the Unix epoch. */
export interface HeldCallContext extends HeldCallInput {
  /** The fence under which this node holds it. */
  readonly fence: number;
  /** The provider has created the call, which the record may not say yet. */
  readonly created: Omit<Extract<CallEvent, { type: 'CREATED' }>, 'type' | 'requestId'> | null;
  readonly sideband: SidebandFacts;
  readonly end: EndFacts;
  readonly gaps: GapFacts;
  readonly responses: Responses;
  readonly silence: Silence;
  /** Null unless a tool has asked for the session to end. */
  readonly ending: Ending | null;
  /** The step that is being saved, and since when; null while nothing is. */
  readonly saving: { readonly step: SaveStep; readonly atMs: number } | null;
  /** Something new came up during that save. */
  readonly isMoreToSave: boolean;
}

export interface SidebandFacts {
  /** Since when this node hears the call; null while it does not. */
  readonly heardAtMs: number | null;
  /** When the last sideband was lost. */
  readonly lostAtMs: number | null;
  /** Failed dials since the call was last heard. */
  readonly failures: number;
  readonly dialAtMs: number;
  /** Whether the provider itself has closed the last sideband. */
  readonly isLeft: boolean;
}

export type OverReason = Extract<CallEvent, { type: 'OVER' }>['reason'];

export interface EndFacts {
  /** The provider says that the call is over, which is not saved yet. */
  readonly said: OverReason | null;
  /** We want the call to be over; the first reason stays. */
  readonly wanted: CloseRequest | null;
  readonly closingAtMs: number | null;
  /** Since when the saved hang-up has been due without happening. */
  readonly dueSinceMs: number | null;
  /** The hang-up that is asked for while the database is away. */
  readonly unsaved: {
    readonly tries: number;
    /** The provider has begun to end the call. */
    readonly isAsked: boolean;
    readonly tryAtMs: number;
    /** When the call was over. */
    readonly doneAtMs: number | null;
  };
}

export interface GapFacts {
  /** Since when nobody hears a closing call whose hang-up was not asked for yet. */
  readonly closingSinceMs: number | null;
  /** When the sideband was lost during a try to hang up: the call ended then, unless that try failed. */
  readonly wentAtMs: number | null;
  /** Start of the last gap that was told. */
  readonly toldSinceMs: number;
}

/** What the record may not say yet, in the order in which it is saved. */
export type SaveStep = 'created' | 'over' | 'close' | 'unheard' | 'heard' | 'lost';

/** Every event carries its time: machines have no clock of their own. `jitter` is from 0 to 1. */
export type HeldCallEvent =
  /** The provider has created the call. */
  | (NonNullable<HeldCallContext['created']> & { readonly type: 'CREATED' })
  /** The call was another node's, which counted everything until `sinceMs`. */
  | { readonly type: 'TAKEN'; readonly at: number; readonly sinceMs: number }
  /** We want the call to be over. */
  | { readonly type: 'CLOSE'; readonly at: number; readonly reason: CloseRequest }
  /** The call is dialled for the first time. */
  | { readonly type: 'DIAL'; readonly at: number }
  | { readonly type: 'ATTACHED'; readonly at: number }
  /** `isOver`: the provider does not know the call, which was heard before. */
  | { readonly type: 'DIAL_FAILED'; readonly at: number; readonly isOver: boolean; readonly jitter: number }
  /** `isLeft`: the provider itself closed it. `isHangUpUnderWay`: it may have done so because it was asked to hang up. */
  | {
      readonly type: 'SIDEBAND_LOST';
      readonly at: number;
      readonly isLeft: boolean;
      readonly isHangUpUnderWay: boolean;
      readonly jitter: number;
    }
  /** This node may not hold calls any more. */
  | { readonly type: 'LEASE_LOST'; readonly at: number; readonly jitter: number }
  /** The call goes to another node, and is no longer heard here. */
  | { readonly type: 'HAND_OVER'; readonly at: number }
  /** This node no longer holds the call. */
  | { readonly type: 'RELEASE'; readonly at: number }
  /** The provider says that the call is over. */
  | { readonly type: 'OVER'; readonly at: number; readonly reason: OverReason }
  /** Something was heard that shows that the call goes on. */
  | { readonly type: 'ALIVE'; readonly at: number }
  /** The record as saved or loaded, whoever changed it. */
  | { readonly type: 'RECORD'; readonly at: number; readonly record: CallRecord }
  /** The step was saved. `mayHear`: this node may hold calls. */
  | { readonly type: 'SAVED'; readonly at: number; readonly mayHear: boolean }
  /** The step was not saved. `isAway`: because the database is away. */
  | { readonly type: 'SAVE_FAILED'; readonly at: number; readonly isAway: boolean }
  /** No try to hang up is under way. */
  | { readonly type: 'HANGUPS_SETTLED'; readonly at: number }
  /** The outcome of a hang-up that was asked for at `askedAtMs` while nothing could be saved. */
  | {
      readonly type: 'UNSAVED_HANGUP_ANSWERED';
      readonly at: number;
      readonly askedAtMs: number;
      readonly answer: 'asked' | 'already_over' | 'failed';
    }
  /** The call is about to be hung up. */
  | { readonly type: 'CANCEL_SPEECH'; readonly at: number }
  /** A response of the conversation is wanted, now or once the running one is over. */
  | { readonly type: 'RESPONSE_WANTED'; readonly at: number; readonly instructions: string | null }
  /** The conversation took a tool's answer that was told again after a sideband was lost: what was sent after it was lost too. */
  | { readonly type: 'ANSWER_TAKEN'; readonly at: number }
  /** A tool has asked for the session to end: it ends once the next response that begins was heard. */
  | { readonly type: 'LAST_WORDS'; readonly at: number }
  /** The visitor wants the agent to stop. */
  | { readonly type: 'INTERRUPT'; readonly at: number }
  /** This node stops, and no other takes the call at once. */
  | { readonly type: 'CUT_OFF'; readonly at: number }
  /** The record is about to close: usage that is not counted now never will be. */
  | { readonly type: 'SETTLE'; readonly at: number }
  /** Settles the responses of a call that goes on without us. */
  | { readonly type: 'SETTLE_RESPONSES'; readonly at: number }
  | { readonly type: 'CLOCK'; readonly at: number; readonly mayHear: boolean }
  | ResponseEvent;

/** The events of these types. */
export type EventOf<T extends HeldCallEvent['type']> = Extract<HeldCallEvent, { readonly type: T }>;

/** What the provider reports about responses, and about the settings that they are made with. */
export type ResponseEvent =
  /** `isAffordable`: the remaining budget pays for it beside the running ones. */
  | {
      readonly type: 'RESPONSE_STARTED';
      readonly at: number;
      readonly response: StartedResponse;
      readonly isAffordable: boolean;
    }
  /** `isTold`: its cost was reported, or there is none. */
  | { readonly type: 'RESPONSE_DONE'; readonly at: number; readonly id: string; readonly isTold: boolean }
  | { readonly type: 'RESPONSE_HEARD'; readonly at: number; readonly id: string; readonly tokens: number }
  | { readonly type: 'USAGE'; readonly at: number; readonly id: string; readonly tokens: TokenCounts }
  | { readonly type: 'ITEM_ADDED'; readonly at: number; readonly id: string; readonly tokens: number }
  | { readonly type: 'CONVERSATION_IDLE'; readonly at: number }
  /** The provider refuses the response that it was asked for. `isBusy`: because another one is running. */
  | {
      readonly type: 'RESPONSE_REFUSED';
      readonly at: number;
      readonly isBusy: boolean;
      readonly instructions: string | null;
    }
  | { readonly type: 'TOOL_CALLED'; readonly at: number }
  /** Somebody starts or stops speaking. `responseId`: the agent's response that is heard, where the provider names it. */
  | {
      readonly type: 'SPEECH';
      readonly at: number;
      readonly who: 'visitor' | 'agent';
      readonly isOn: boolean;
      readonly responseId?: string | undefined;
    }
  /** The visitor has written something, or what they said has been transcribed. */
  | { readonly type: 'WORDS'; readonly at: number }
  | { readonly type: 'CONFIG_CHANGED'; readonly at: number; readonly isAsSdk: boolean }
  | { readonly type: 'CONFIG_RESTORED'; readonly at: number }
  /** A response may have this many output tokens from now on. */
  | { readonly type: 'GRANTED'; readonly at: number; readonly tokens: number };

/** What the node that holds the call is to do. */
export type HeldCallCommand =
  /** Answer with SAVED, SAVE_FAILED or RELEASE. `isCountedFirst`: only once what was heard is in the ledger. */
  | { readonly type: 'save'; readonly event: CallEvent; readonly isCountedFirst: boolean }
  /** Wait for the tries that are under way, then send HANGUPS_SETTLED. */
  | { readonly type: 'awaitHangUps' }
  /** Save that the call goes on; no other step waits for this. */
  | { readonly type: 'saveAlive' }
  | { readonly type: 'hangUp'; readonly providerCallId: string; readonly askedAtMs: number }
  | { readonly type: 'dial' }
  | { readonly type: 'closeSideband' }
  /** Cancels this response, or whichever is running in the conversation. */
  | { readonly type: 'cancelResponse'; readonly id: string | undefined }
  | { readonly type: 'createResponse'; readonly instructions: string | null }
  /** The silence has lasted so long that the agent is to ask whether somebody is there. */
  | { readonly type: 'askWhoIsThere' }
  /** Drop what the visitor has not heard yet. */
  | { readonly type: 'clearSpeech' }
  | { readonly type: 'restoreConfig' }
  /** The estimated cost of a response that was not reported. */
  | { readonly type: 'charge'; readonly key: string; readonly tokens: TokenCounts }
  /** Nobody heard the call during this time. */
  | { readonly type: 'gap'; readonly fromMs: number; readonly untilMs: number }
  /** No response is running any more. */
  | { readonly type: 'quiet' }
  /** The call is no longer open; it went on until `untilMs`. */
  | { readonly type: 'left'; readonly openedAtMs: number | null; readonly untilMs: number }
  | { readonly type: 'confirmed'; readonly afterMs: number };

/** What a rule makes of a call, and the commands that follow. */
export type Outcome = readonly [call: HeldCallContext, commands: readonly HeldCallCommand[]];
