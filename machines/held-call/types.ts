import type { CallEvent, CallRecord, CloseRequest } from '../voice-call/types.ts';
import type { Strikes } from './strikes.ts';

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
  /** The response that we want from the conversation, which has one at a time. */
  readonly wish: {
    /** Waits for the running response to end. `instructions`: for this response only; null for the session's. */
    readonly wanted: { readonly instructions: string | null } | null;
    /** The provider was asked for one, and has not said that it began. */
    readonly isAsked: boolean;
    /** The last one was asked for when the sideband was lost: nobody knows whether the provider received that. */
    readonly isInDoubt: boolean;
  };
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
  readonly sideband: {
    /** Since when this node hears the call; null while it does not. */
    readonly heardAtMs: number | null;
    /** When the last sideband was lost. */
    readonly lostAtMs: number | null;
    /** Failed dials since the call was last heard. */
    readonly failures: number;
    readonly dialAtMs: number;
    /** Whether the provider itself has closed the last sideband. */
    readonly isLeft: boolean;
  };
  readonly end: {
    /** The provider says that the call is over, which is not saved yet. */
    readonly said: Extract<CallEvent, { type: 'OVER' }>['reason'] | null;
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
  };
  readonly gaps: {
    /** Since when nobody hears a closing call whose hang-up was not asked for yet. */
    readonly closingSinceMs: number | null;
    /** When the sideband was lost during a try to hang up: the call ended then, unless that try failed. */
    readonly wentAtMs: number | null;
    /** Start of the last gap that was told. */
    readonly toldSinceMs: number;
  };
  readonly responses: Responses;
  /** How long nobody has said anything. */
  readonly silence: {
    /** Since when; null while nobody hears the call. */
    readonly sinceMs: number | null;
    readonly isVisitorSpeaking: boolean;
    readonly isAgentSpeaking: boolean;
    /** The agent waits for a tool. */
    readonly isToolCalled: boolean;
    /** The agent has asked whether somebody is there, and the visitor has said nothing since. */
    readonly isAsked: boolean;
  };
  /** The last response of a session that a tool has asked to end, and how far it has come; null unless one has. */
  readonly ending: {
    /** Null until it began. */
    readonly responseId: string | null;
    readonly isDone: boolean;
    /** The call is to be closed now. */
    readonly isOver: boolean;
    /** It begins by then or never, even if other responses come first. */
    readonly beginsByMs: number;
    /** It is heard to its end by then or never, whatever else the agent says; Infinity until it is done. */
    readonly heardByMs: number;
    /** Deadline of its next step. */
    readonly untilMs: number;
  } | null;
  /** The step that is being saved, and since when; null while nothing is. */
  readonly saving: { readonly step: SaveStep; readonly atMs: number } | null;
  /** Something new came up during that save. */
  readonly isMoreToSave: boolean;
}

/** What the record may not say yet, in the order in which it is saved. */
export type SaveStep = 'created' | 'over' | 'close' | 'unheard' | 'heard' | 'lost';

/** Every event carries its time: machines have no clock of their own. */
type Timed<E> = E & { readonly at: number };

/** `jitter` is from 0 to 1. */
export type HeldCallEvent = Timed<
  | ResponseEvent
  /** The provider has created the call. */
  | (NonNullable<HeldCallContext['created']> & { readonly type: 'CREATED' })
  /** The call was another node's, which counted everything until `sinceMs`. */
  | { readonly type: 'TAKEN'; readonly sinceMs: number }
  /** We want the call to be over. */
  | { readonly type: 'CLOSE'; readonly reason: CloseRequest }
  /** The call is dialled for the first time. */
  | { readonly type: 'DIAL' }
  | { readonly type: 'ATTACHED' }
  /** `isOver`: the provider does not know the call, which was heard before. */
  | { readonly type: 'DIAL_FAILED'; readonly isOver: boolean; readonly jitter: number }
  /** `isLeft`: the provider itself closed it. `isHangUpUnderWay`: it may have done so because it was asked to hang up. */
  | {
      readonly type: 'SIDEBAND_LOST';
      readonly isLeft: boolean;
      readonly isHangUpUnderWay: boolean;
      readonly jitter: number;
    }
  /** This node may not hold calls any more. */
  | { readonly type: 'LEASE_LOST'; readonly jitter: number }
  /** The call goes to another node, and is no longer heard here. */
  | { readonly type: 'HAND_OVER' }
  /** This node no longer holds the call. */
  | { readonly type: 'RELEASE' }
  /** The provider says that the call is over. */
  | { readonly type: 'OVER'; readonly reason: NonNullable<HeldCallContext['end']['said']> }
  /** Something was heard that shows that the call goes on. */
  | { readonly type: 'ALIVE' }
  /** The record as saved or loaded, whoever changed it. */
  | { readonly type: 'RECORD'; readonly record: CallRecord }
  /** The step was saved. `mayHear`: this node may hold calls. */
  | { readonly type: 'SAVED'; readonly mayHear: boolean }
  /** The step was not saved. `isAway`: because the database is away. */
  | { readonly type: 'SAVE_FAILED'; readonly isAway: boolean }
  /** No try to hang up is under way. */
  | { readonly type: 'HANGUPS_SETTLED' }
  /** The outcome of a hang-up that was asked for at `askedAtMs` while nothing could be saved. */
  | {
      readonly type: 'UNSAVED_HANGUP_ANSWERED';
      readonly askedAtMs: number;
      readonly answer: 'asked' | 'already_over' | 'failed';
    }
  /** The call is about to be hung up. */
  | { readonly type: 'CANCEL_SPEECH' }
  /** A response of the conversation is wanted, now or once the running one is over. */
  | { readonly type: 'RESPONSE_WANTED'; readonly instructions: string | null }
  /** The conversation took a tool's answer that was told again after a sideband was lost: what was sent after it was lost too. */
  | { readonly type: 'ANSWER_TAKEN' }
  /** A tool has asked for the session to end: it ends once the next response that begins was heard. */
  | { readonly type: 'LAST_WORDS' }
  /** The visitor wants the agent to stop. */
  | { readonly type: 'INTERRUPT' }
  /** This node stops, and no other takes the call at once. */
  | { readonly type: 'CUT_OFF' }
  /** The record is about to close: usage that is not counted now never will be. */
  | { readonly type: 'SETTLE' }
  /** Settles the responses of a call that goes on without us. */
  | { readonly type: 'SETTLE_RESPONSES' }
  | { readonly type: 'CLOCK'; readonly mayHear: boolean }
>;

/** The events of these types. */
export type EventOf<T extends HeldCallEvent['type']> = Extract<HeldCallEvent, { readonly type: T }>;

/** What the provider reports about responses, and about the settings that they are made with. */
export type ResponseEvent = Timed<
  /** `isAffordable`: the remaining budget pays for it beside the running ones. */
  | { readonly type: 'RESPONSE_STARTED'; readonly response: StartedResponse; readonly isAffordable: boolean }
  /** `isTold`: its cost was reported, or there is none. */
  | { readonly type: 'RESPONSE_DONE'; readonly id: string; readonly isTold: boolean }
  | { readonly type: 'RESPONSE_HEARD'; readonly id: string; readonly tokens: number }
  | { readonly type: 'USAGE'; readonly id: string; readonly tokens: TokenCounts }
  | { readonly type: 'ITEM_ADDED'; readonly id: string; readonly tokens: number }
  | { readonly type: 'CONVERSATION_IDLE' }
  /** The provider refuses the response that it was asked for. `isBusy`: because another one is running. */
  | { readonly type: 'RESPONSE_REFUSED'; readonly isBusy: boolean; readonly instructions: string | null }
  | { readonly type: 'TOOL_CALLED' }
  /** Somebody starts or stops speaking. `responseId`: the agent's response that is heard, where the provider names it. */
  | {
      readonly type: 'SPEECH';
      readonly who: 'visitor' | 'agent';
      readonly isOn: boolean;
      readonly responseId?: string | undefined;
    }
  /** The visitor has written something, or what they said has been transcribed. */
  | { readonly type: 'WORDS' }
  | { readonly type: 'CONFIG_CHANGED'; readonly isAsSdk: boolean }
  | { readonly type: 'CONFIG_RESTORED' }
  /** A response may have this many output tokens from now on. */
  | { readonly type: 'GRANTED'; readonly tokens: number }
>;

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
