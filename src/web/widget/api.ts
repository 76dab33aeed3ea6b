/**
 * The browser SDK of Switchboard: holds one voice session of a widget.
 *
 *     import { connect } from 'https://switchboard.example/widget.mjs';
 *     const session = await connect({ baseUrl: 'https://switchboard.example', widgetKey: 'w_…', agentId: 'guide' });
 *     session.on('ended', ({ userMessage }) => show(userMessage));
 *     await session.connectAudio();
 *
 * As a plain script, `/widget.js`, it is the global `Switchboard`. It also runs in Node 22, and in Node 20 with a `WebSocket` of your choice.
 */

import type { ClientSecret, CreateReply, CreateRequest } from '../../protocol/create.ts';
import type { RefusalBody } from '../../protocol/error-body.ts';
import type { Warning } from '../../protocol/frames.ts';
import type { EndReason, SessionLimits, SessionState, SessionView } from '../../protocol/session.ts';
import type { Usage } from '../../protocol/usage.ts';

export type {
  ClientSecret,
  CreateReply,
  CreateRequest,
  EndReason,
  RefusalBody,
  SessionLimits,
  SessionState,
  SessionView,
  Usage,
  Warning,
};

/**
 * What the agent may ask the page for, by name: a function where the agent has the tool already, or the tool and what it does. It has the
 * arguments as the model wrote them, and ten seconds; the model is told what it returns (what is no text as JSON), or its failure.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a model wrote them, and handlers say what they take them for
export type ToolHandler = (args: any, context: { readonly signal: AbortSignal }) => unknown;

export interface ToolHandlers {
  readonly [name: string]:
    | ToolHandler
    | {
        readonly description?: string;
        /** A JSON schema. */
        readonly parameters?: object;
        readonly run: ToolHandler;
      };
}

/** The reply to a create, or why it was refused, as the server wrote it. */
export type Created = CreateReply | RefusalBody;

export interface ConnectOptions extends Omit<CreateRequest, 'tools'> {
  /** The tools of the session: as a list, their calls are for the page to answer on the channel; by name, the SDK answers them. */
  readonly tools?: CreateRequest['tools'] | ToolHandlers;
  /** Where Switchboard is; by default the page's own origin. */
  readonly baseUrl?: string;
  /** Go with every HTTP request to Switchboard, read each time: what a bot-detection library adds. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of each `userMessage` of the server, as a BCP 47 tag; by default the browser's. */
  readonly language?: string;
  /** In the place of the global one. */
  readonly fetch?: typeof fetch;
  /** In the place of the global one; without any, the session lives on HTTP. */
  readonly WebSocket?: typeof WebSocket;
  /** Asks for the microphone first: a visitor who refuses it costs no session. `connectAudio` uses it, and it is given back at the end. */
  readonly audio?: boolean | MediaTrackConstraints;
  /**
   * What POST /api/session replied to the page's own back end, or what asks for it, called once the microphone is there. Nothing is created
   * then, and no key is needed; of the fields of a create only `email` counts, which must be that of the create.
   */
  readonly created?: Created | (() => Created | Promise<Created>);
  /** Called when the visitor leaves the page during a brokered call, which then goes on where another page gives the token as `resume`. */
  readonly keep?: (token: string) => void;
  /** Aborted before there is a session, there will be none; later, it ends the session. */
  readonly signal?: AbortSignal;
}

/** How the microphone is opened: as for `getUserMedia`. */
export type AudioConstraints = true | MediaTrackConstraints;

export interface UsageReport {
  readonly tokens?: number;
  /** Counted to six decimals. */
  readonly dollars?: number;
  /** A report is counted once per id; by default each call has its own. */
  readonly id?: string;
}

/** Why it is over. Show `userMessage`. */
export interface Ended {
  /** `not_found` for a session that the server does not know, `resumed_elsewhere` for one that goes on on another page. */
  readonly reason: EndReason | 'not_found' | 'resumed_elsewhere' | (string & {});
  readonly code: string;
  readonly userMessage: string;
}

/**
 * How a call with the provider fares: `connecting`, `connected`, `reconnecting` (its network is away for a moment) and at last `lost`,
 * unless the page or the end of the session ended it. Once lost, the microphone is off; the session goes on without a call.
 */
export interface MediaEvent {
  readonly state: 'connecting' | 'connected' | 'reconnecting' | 'lost';
  /** Why it is lost: CALL_LOST, MICROPHONE_LOST, or what `connectAudio` throws. */
  readonly error?: SwitchboardError;
}

/**
 * A call as its page knows it: `creating` (its offer is on the way), `open` (answered), `closing` (the session is over, and Switchboard
 * hangs up) and `closed`. After `closed`, `creating` is another call of the session.
 */
export type CallState = 'creating' | 'open' | 'closing' | 'closed';

/** What Switchboard hears of a call that it opened (`call` is its name): it is open; the agent speaks, or listens; it is over. */
export interface HeardEvent {
  readonly event: 'ready' | 'speaking' | 'listening' | 'over';
  readonly call: string;
}

/** How loud both sides of a call are: 0 is silent, 1 the loudest that there is. Speech is about 0.05 to 0.3. */
export type Levels = Readonly<Record<'visitor' | 'agent', number>>;

/** Who speaks. */
export type Speaking = Readonly<Record<'visitor' | 'agent', boolean>>;

/** Words of the conversation. */
export interface Transcript {
  /** The same for all that is told of one turn; the visitor's may come after the answer to it. */
  readonly id: string;
  readonly who: 'visitor' | 'agent';
  /** All of the turn so far, or its end where it is long. */
  readonly text: string;
  /** Nothing follows of this turn. */
  readonly final: boolean;
}

export interface SessionEvents {
  /** The state changed. */
  readonly state: { readonly state: SessionState };
  /** The server acknowledged a heartbeat, or the first contact over a socket. */
  readonly beat: { readonly session: SessionView };
  /** Heartbeats go this way from now on. */
  readonly transport: { readonly transport: 'socket' | 'http' };
  /** The call with the provider was joined, falters or is lost. */
  readonly media: MediaEvent;
  /** About ten times a second during a call. */
  readonly level: Levels;
  /** Somebody began or ceased to speak. */
  readonly speaking: Speaking;
  /** Somebody said or wrote something. */
  readonly transcript: Transcript;
  /** Somebody began or ceased to speak, as the provider hears it: `speaking` is what this page hears. */
  readonly speech: { readonly who: 'visitor' | 'agent'; readonly on: boolean };
  /** The agent asks the page for a tool, with arguments as the model wrote them, which the handler of `tools` answers. */
  readonly tool: { readonly id: string; readonly name: string; readonly arguments: string };
  /** Switchboard calls a tool of the server, and the agent waits for it, or does so no more. */
  readonly thinking: { readonly on: boolean; readonly tool?: string | undefined };
  /** The call has another state. */
  readonly call: { readonly state: CallState };
  /** Switchboard hears of a call that it opened. */
  readonly heard: HeardEvent;
  /** The end is near: say so, or stop spending. */
  readonly warning: Warning;
  /** A report was counted. */
  readonly usage: { readonly usage: Usage };
  /** The session is over; nothing follows. The page hears it before its call is hung up. */
  readonly ended: Ended;
  /** Something failed that the session goes on without, or tries again. NETWORK_ERROR: Switchboard does not answer, until the next `beat`. */
  readonly error: SwitchboardError;
}

export interface AudioOptions {
  /** Plays the agent's voice; by default one that is not on the page. */
  readonly audioElement?: HTMLAudioElement;
  /** What the agent hears; by default the microphone, for which the browser asks the user. */
  readonly stream?: MediaStream;
  /** Where the call is made; by default where the session says. */
  readonly callsUrl?: string;
  /** What of a response's usage is reported; by default its tokens, and no dollars. Not called where `brokered` is true: Switchboard meters. */
  readonly reportUsage?: (usage: { readonly total_tokens: number; readonly [detail: string]: unknown }) => UsageReport;
}

/** A call with the provider. It ends with the session. */
export interface AudioCall {
  /** Another one after the call was joined again. */
  readonly peer: RTCPeerConnection;
  /** The provider's events, as JSON texts; another one after the call was joined again, and none where the agent forbids it. */
  readonly channel: RTCDataChannel | undefined;
  readonly stream: MediaStream;
  /** Sends the provider events of its own protocol, as soon as that is possible. @throws SwitchboardError PROVIDER_UNSUPPORTED (it has no data channel) */
  readonly say: (...events: object[]) => void;
  /** The agent hears this one from now on. */
  readonly replaceTrack: (track: MediaStreamTrack) => Promise<void> | undefined;
  /** Hangs up; the session goes on. */
  readonly stop: () => void;
}

export interface Session {
  /** sm_session_id: whoever has it can speak for the session. */
  readonly id: string;
  /** The provider's session id. */
  readonly providerSessionId: string;
  readonly clientSecret: ClientSecret;
  /** Whether Switchboard opens, meters and ends the calls. Otherwise it is the provider's secret that the page has. */
  readonly brokered: boolean;
  readonly limits: SessionLimits;
  /** What a page has to know of the agent: whether it greets, is held a button for, is written down, is to be told of as an AI. */
  readonly agent: CreateReply['agent'];
  readonly state: SessionState;
  readonly transport: 'socket' | 'http';
  /** Seconds since the last activity, as this page knows it. */
  readonly idleSec: number;
  /** Returns a function that stops listening. */
  readonly on: <T extends keyof SessionEvents>(type: T, listener: (event: SessionEvents[T]) => void) => () => void;
  readonly off: <T extends keyof SessionEvents>(type: T, listener: (event: SessionEvents[T]) => void) => void;
  /**
   * Somebody is speaking: call it about every second meanwhile. From the first call on, heartbeats tell how long it was quiet, so
   * that a forgotten tab goes idle; before it, every heartbeat counts as activity. `connectAudio` calls it by itself.
   */
  readonly active: () => void;
  /** Adds to the user's daily totals, once under its id; resolves with these. @throws DAILY_QUOTA_EXCEEDED: counted, and the session is over */
  readonly reportUsage: (report: UsageReport) => Promise<Usage>;
  /**
   * Joins a WebRTC call with the provider; a call before it is hung up, unless Switchboard has no ticket for another. Where `brokered` is true,
   * every call has a ticket of its own, and one whose network is gone is joined again. Otherwise the client secret must not have expired.
   * @throws SwitchboardError SIMULATED_PROVIDER, PROVIDER_UNSUPPORTED, PROVIDER_REFUSED, CALL_LOST, those of the microphone, or why it is over
   */
  readonly connectAudio: (options?: AudioOptions) => Promise<AudioCall>;
  /**
   * Joins such a call for who writes: no microphone is asked for, and the agent hears silence. `connectAudio` takes its place; where the
   * microphone is refused then, it stays. @throws SwitchboardError as `connectAudio`, but those of the microphone
   */
  readonly connectText: (options?: Omit<AudioOptions, 'stream'>) => Promise<AudioCall>;
  readonly muted: boolean;
  /** What the visitor says is not heard from now on, in this call and the next; `mute(false)` ends it. */
  readonly mute: (on?: boolean) => void;
  /** The microphones to choose from: without names until the visitor has allowed one. @throws SwitchboardError MICROPHONE_INSECURE */
  readonly devices: () => Promise<MediaDeviceInfo[]>;
  /** Another microphone, in this call and the next; a stream that the page has given stays. @throws SwitchboardError those of the microphone: then the one before stays */
  readonly setDevice: (deviceId: string) => Promise<void>;
  /** Says a text to the agent, who answers aloud; what Switchboard refuses of it later is an `error`. @throws SwitchboardError CALL_LOST, NETWORK_ERROR */
  readonly send: (text: string) => void;
  /** The agent stops at once. @throws SwitchboardError as `send` */
  readonly interrupt: () => void;
  /** With `agent.push`, else nothing: the visitor presses the button to speak, and is heard, or lets go of it, and is answered. @throws as `send` */
  readonly talk: (on: boolean) => void;
  /** How the visitor found it, from 1 (bad) to 5 (good), until five minutes after the end: the last word counts. @throws SwitchboardError */
  readonly rate: (value: number) => Promise<unknown>;
  /** Ends the session. Leaving the page does it too, unless `keep` may. */
  readonly end: () => Promise<void>;
}

/** Codes that the SDK gives by itself; all others are the server's. */
export type OwnCode =
  /** Switchboard does not answer, or something else answers in its place. */
  | 'NETWORK_ERROR'
  /** The visitor, the browser or the page's permissions policy refused the microphone. */
  | 'MICROPHONE_BLOCKED'
  /** There is none, or another program has it. */
  | 'MICROPHONE_MISSING'
  /** Browsers give the microphone only to pages on https, and on localhost. */
  | 'MICROPHONE_INSECURE'
  /** It was unplugged, or its permission taken back, during the call. */
  | 'MICROPHONE_LOST'
  /** Switchboard has no provider key, so nobody answers a call. */
  | 'SIMULATED_PROVIDER'
  /** The provider's calls are not made by WebRTC: `clientSecret` is for its own SDK. */
  | 'PROVIDER_UNSUPPORTED'
  /** The provider did not take the call, or could not be reached. */
  | 'PROVIDER_REFUSED'
  /** The provider hung up, or its network is gone. */
  | 'CALL_LOST'
  /** A tool of the page failed or took too long, and the agent was told so. */
  | 'TOOL_FAILED';

/** What went wrong, with the server's words. */
export declare class SwitchboardError extends Error {
  constructor(body: RefusalBody, status?: number);
  /** Of the server, or one of `OwnCode`. */
  readonly code: string;
  /** The server's words for you, as `message` has them, where it said any. */
  readonly error: string | undefined;
  /** For the user; `message` is for you. */
  readonly userMessage: string;
  /** HTTP status; 0 when there was no HTTP reply. */
  readonly status: number;
  /** Seconds to wait. */
  readonly retryAfter: number | undefined;
  /** Why the session is over, when it is; see `Ended`. */
  readonly reason: string | undefined;
  /** Of BOT_BLOCKED: who solves it, and connects again with its token in the header `X-Switchboard-Challenge`, is let in. */
  readonly challenge: RefusalBody['challenge'];
}

/**
 * Creates a session and holds it. On a page, called again with the same options before it is done (a double click), it gives the same
 * session; not so with a `signal`, which belongs to one call.
 * @throws SwitchboardError when the server refuses, or the microphone is not given; its userMessage is for the user
 * @throws the signal's reason when it is aborted first
 */
export declare function connect(options: ConnectOptions): Promise<Session>;
