import type { CallEvent, CallRecord, CloseRequest } from '../voice-call/types.ts';
import type { Ending, ResponseWish, Silence } from './conversation-facts.ts';

export type TokenCounts = Readonly<
  Record<
    'textIn' | 'textCached' | 'textOut' | 'audioIn' | 'audioCached' | 'audioOut' | 'imageIn' | 'imageCached',
    number
  >
>;

/** A response as its provider tells that it began. */
export interface StartedResponse {
  readonly id: string;
  /** False for one that runs beside the conversation, of which there may be many at once. */
  readonly isInConversation: boolean;
  /** Tokens that it may have; Infinity where nothing bounds it. */
  readonly maxOutputTokens: number;
  /** Tokens that we let one have, by the greatest bound of ours that may still have held when it began. */
  readonly grantedTokens: number;
  readonly modality: 'audio' | 'text';
}

/** A response whose cost is not known yet. */
export interface OpenResponse extends Omit<StartedResponse, 'grantedTokens'> {
  /** When it began; later by the time in which nobody heard the call. */
  readonly sinceMs: number;
  readonly context: TokenCounts;
  /** What the conversation held when it began. */
  readonly items: readonly string[];
  /** Tokens that it was heard to say. */
  readonly heardTokens: number;
  /** When it was asked to end. */
  readonly cancelledAtMs: number | null;
}

export interface ResponseTerms {
  /** That may run at once (MAX_OPEN_RESPONSES). */
  readonly max: number;
  /** Whether the page may change nothing of its session: then no response of it runs beside the conversation, or is longer than granted. */
  readonly forbidsOverrides: boolean;
  /** Tokens of instructions and tools: the context before any usage tells it. */
  readonly setupTokens: number;
  /** Tokens of the items of its conversation that a response reads at most. */
  readonly maxItemTokens: number;
  /** Tokens that the provider lets any response have. */
  readonly maxResponseTokens: number;
}

/** What is known of the responses of one call. */
export interface Responses {
  readonly open: readonly OpenResponse[];
  /** Tokens that the next response reads, as far as usage told them. */
  readonly context: TokenCounts;
  /** Tokens of the items since, by their ids. */
  readonly items: readonly (readonly [id: string, tokens: number])[];
  /** Tokens of those that are too many to be told apart. */
  readonly furtherTokens: number;
  /** The last ones that ended: what the provider still tells of them opens none anew. */
  readonly ended: readonly string[];
  /** Responses that another node may have left here, and whose names nobody knows. */
  readonly inherited: number;
  readonly inheritedSinceMs: number;
  /** Tokens that one may have by now. */
  readonly grantedTokens: number;
  /** Since when the call was first heard by this node. */
  readonly heardSinceMs: number | null;
  /** Since when nobody hears the call: that time is in a gap, and no response is charged for it. */
  readonly lostAtMs: number | null;
  readonly strikes: Strikes;
  readonly wish: ResponseWish;
}

/** What a page did that differs from what it may do (docs/contract.md, section 5.10). */
export interface Strikes {
  readonly count: number;
  /** When it changed its session within the last minute. */
  readonly changedAtMs: readonly number[];
  /** Changes that the provider's own SDK may make. */
  readonly excused: number;
  /** It changed its session, which is not put back yet. */
  readonly isChanged: boolean;
  /** It did so before there was a sideband to put it back on. */
  readonly isRestoreDue: boolean;
}

export interface HeldCallInput {
  /** As it is when this node begins to hold the call. */
  readonly record: CallRecord;
  /** Whether the call is metered by its events, so that somebody has to hear it. */
  readonly needsSideband: boolean;
  /** Whether all is known that a lost sideband is dialled again with. */
  readonly isDiallable: boolean;
  readonly terms: ResponseTerms;
  /** After so long a silence the agent asks whether somebody is there; null where it does not. */
  readonly askAfterMs: number | null;
}

/** What a node knows of a call that it holds. Times are milliseconds since the Unix epoch. */
export interface HeldCallContext extends HeldCallInput {
  /** Under which this node holds it. */
  readonly fence: number;
  /** The provider has made the call, which the record may not say yet. */
  readonly created: Omit<Extract<CallEvent, { type: 'CREATED' }>, 'type' | 'requestId'> | null;
  readonly sideband: SidebandFacts;
  readonly end: EndFacts;
  readonly gaps: GapFacts;
  readonly responses: Responses;
  readonly silence: Silence;
  /** Null unless a tool has asked for the end of the session. */
  readonly ending: Ending | null;
  /** The step that the database was asked to save, and when; null while it is asked for nothing. */
  readonly saving: { readonly step: SaveStep; readonly atMs: number } | null;
  /** Something came up while that is being saved. */
  readonly isMoreToSave: boolean;
}

export interface SidebandFacts {
  /** Since when this node hears the call; null while it does not. */
  readonly heardAtMs: number | null;
  /** When the last sideband was lost. */
  readonly lostAtMs: number | null;
  /** Tries to dial that failed since the call was last heard. */
  readonly failures: number;
  readonly dialAtMs: number;
  /** Whether the provider itself has closed the last sideband. */
  readonly isLeft: boolean;
}

export type OverReason = Extract<CallEvent, { type: 'OVER' }>['reason'];

export interface EndFacts {
  /** The provider says that the call is over, which is not saved yet. */
  readonly said: OverReason | null;
  /** We want it to be over; the first reason stays. */
  readonly wanted: CloseRequest | null;
  readonly closingAtMs: number | null;
  /** Since when the saved hang-up is due and does not come about. */
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
  /** Since when nobody hears a call that is closing, and whose hang-up was not asked yet. */
  readonly closingSinceMs: number | null;
  /** When the sideband went during a try to hang up: with the call, unless that try failed. */
  readonly wentAtMs: number | null;
  /** The last gap that was told began here. */
  readonly toldSinceMs: number;
}

/** What the record may not say yet, in the order in which it is saved. */
export type SaveStep = 'created' | 'over' | 'close' | 'unheard' | 'heard' | 'lost';

/** Every event carries its time: machines have no clock of their own. `jitter` is from 0 to 1. */
export type HeldCallEvent =
  /** The provider has made the call. */
  | (NonNullable<HeldCallContext['created']> & { readonly type: 'CREATED' })
  /** The call was another node's, which counted all until `sinceMs`. */
  | { readonly type: 'TAKEN'; readonly at: number; readonly sinceMs: number }
  /** We want it to be over. */
  | { readonly type: 'CLOSE'; readonly at: number; readonly reason: CloseRequest }
  /** The call is dialled for the first time. */
  | { readonly type: 'DIAL'; readonly at: number }
  | { readonly type: 'ATTACHED'; readonly at: number }
  /** `isOver`: the provider knows no such call, of one that was heard before. */
  | { readonly type: 'DIAL_FAILED'; readonly at: number; readonly isOver: boolean; readonly jitter: number }
  /** `isLeft`: the provider itself has closed it. `isHangUpUnderWay`: and may have done so because it was asked to. */
  | {
      readonly type: 'SIDEBAND_LOST';
      readonly at: number;
      readonly isLeft: boolean;
      readonly isHangUpUnderWay: boolean;
      readonly jitter: number;
    }
  /** This node may hold no calls any more. */
  | { readonly type: 'LEASE_LOST'; readonly at: number; readonly jitter: number }
  /** To another node: the call is heard no more. */
  | { readonly type: 'HAND_OVER'; readonly at: number }
  /** This node holds the call no more. */
  | { readonly type: 'RELEASE'; readonly at: number }
  /** The provider says that the call is over. */
  | { readonly type: 'OVER'; readonly at: number; readonly reason: OverReason }
  /** Something was heard that shows that the call goes on. */
  | { readonly type: 'ALIVE'; readonly at: number }
  /** The record as it was saved or loaded, by whomever. */
  | { readonly type: 'RECORD'; readonly at: number; readonly record: CallRecord }
  /** What was to be saved is saved. `mayHear`: this node may hold calls. */
  | { readonly type: 'SAVED'; readonly at: number; readonly mayHear: boolean }
  /** The database did not take it. `isAway`: because it is away. */
  | { readonly type: 'SAVE_FAILED'; readonly at: number; readonly isAway: boolean }
  /** No try to hang up is under way. */
  | { readonly type: 'HANGUPS_SETTLED'; readonly at: number }
  /** What came of a hang-up that was asked for at `askedAtMs` while nothing could be saved. */
  | {
      readonly type: 'UNSAVED_HANGUP_ANSWERED';
      readonly at: number;
      readonly askedAtMs: number;
      readonly answer: 'asked' | 'already_over' | 'failed';
    }
  /** The call is about to be hung up. */
  | { readonly type: 'CANCEL_SPEECH'; readonly at: number }
  /** A response is wanted of the conversation, now or once the one that runs is over. */
  | { readonly type: 'RESPONSE_WANTED'; readonly at: number; readonly instructions: string | null }
  /** The conversation took an answer to a tool that it was told before on a sideband that was lost: what was sent after it was lost too. */
  | { readonly type: 'ANSWER_TAKEN'; readonly at: number }
  /** A tool has asked for the end of the session: it ends once the response that begins next was heard. */
  | { readonly type: 'LAST_WORDS'; readonly at: number }
  /** The visitor wants the agent to stop. */
  | { readonly type: 'INTERRUPT'; readonly at: number }
  /** This node stops, and no other takes the call at once. */
  | { readonly type: 'CUT_OFF'; readonly at: number }
  /** The record is about to close: what was not told until now never is. */
  | { readonly type: 'SETTLE'; readonly at: number }
  /** Of a call that goes on without us. */
  | { readonly type: 'SETTLE_RESPONSES'; readonly at: number }
  | { readonly type: 'CLOCK'; readonly at: number; readonly mayHear: boolean }
  | ResponseEvent;

/** The events of these types. */
export type EventOf<T extends HeldCallEvent['type']> = Extract<HeldCallEvent, { readonly type: T }>;

/** What the provider tells of responses, and of the settings that they are made by. */
export type ResponseEvent =
  /** `isAffordable`: what is left pays for it beside what runs. */
  | {
      readonly type: 'RESPONSE_STARTED';
      readonly at: number;
      readonly response: StartedResponse;
      readonly isAffordable: boolean;
    }
  /** `isTold`: its cost was told, or there is none. */
  | { readonly type: 'RESPONSE_DONE'; readonly at: number; readonly id: string; readonly isTold: boolean }
  | { readonly type: 'RESPONSE_HEARD'; readonly at: number; readonly id: string; readonly tokens: number }
  | { readonly type: 'USAGE'; readonly at: number; readonly id: string; readonly tokens: TokenCounts }
  | { readonly type: 'ITEM_ADDED'; readonly at: number; readonly id: string; readonly tokens: number }
  | { readonly type: 'CONVERSATION_IDLE'; readonly at: number }
  /** The provider makes none of what it was asked for. `isBusy`: because another one runs. */
  | {
      readonly type: 'RESPONSE_REFUSED';
      readonly at: number;
      readonly isBusy: boolean;
      readonly instructions: string | null;
    }
  | { readonly type: 'TOOL_CALLED'; readonly at: number }
  /** Somebody begins to speak, or stops. `responseId`: what of the agent's is heard, where the provider names it. */
  | {
      readonly type: 'SPEECH';
      readonly at: number;
      readonly who: 'visitor' | 'agent';
      readonly isOn: boolean;
      readonly responseId?: string | undefined;
    }
  /** The visitor has written something, or what they said is written down. */
  | { readonly type: 'WORDS'; readonly at: number }
  | { readonly type: 'CONFIG_CHANGED'; readonly at: number; readonly isAsSdk: boolean }
  | { readonly type: 'CONFIG_RESTORED'; readonly at: number }
  /** A response may have so many tokens from now on. */
  | { readonly type: 'GRANTED'; readonly at: number; readonly tokens: number };

/** What whoever holds the call is to do. */
export type HeldCallCommand =
  /** Then say SAVED, SAVE_FAILED or RELEASE. `isCountedFirst`: once what was heard is in the ledger. */
  | { readonly type: 'save'; readonly event: CallEvent; readonly isCountedFirst: boolean }
  /** Wait for the tries that are under way, and say HANGUPS_SETTLED. */
  | { readonly type: 'awaitHangUps' }
  /** Save that the call goes on, which no other step waits for. */
  | { readonly type: 'saveAlive' }
  | { readonly type: 'hangUp'; readonly providerCallId: string; readonly askedAtMs: number }
  | { readonly type: 'dial' }
  | { readonly type: 'closeSideband' }
  /** Of a response, or of the one that runs in the conversation, whichever it is. */
  | { readonly type: 'cancelResponse'; readonly id: string | undefined }
  | { readonly type: 'createResponse'; readonly instructions: string | null }
  /** Nobody has said anything for so long that the agent is to ask whether somebody is there. */
  | { readonly type: 'askWhoIsThere' }
  /** What the visitor still has to hear is not to be heard. */
  | { readonly type: 'clearSpeech' }
  | { readonly type: 'restoreConfig' }
  /** What a response is taken to have cost of which nobody tells. */
  | { readonly type: 'charge'; readonly key: string; readonly tokens: TokenCounts }
  /** Nobody heard the call in that time. */
  | { readonly type: 'gap'; readonly fromMs: number; readonly untilMs: number }
  /** No response runs any more. */
  | { readonly type: 'quiet' }
  /** The call is open no more; it went on until then. */
  | { readonly type: 'left'; readonly openedAtMs: number | null; readonly untilMs: number }
  | { readonly type: 'confirmed'; readonly afterMs: number };

/** What a rule makes of a call, and what whoever holds it is to do. */
export type Outcome = readonly [call: HeldCallContext, commands: readonly HeldCallCommand[]];
