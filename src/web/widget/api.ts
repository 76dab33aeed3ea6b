/**
 * The browser SDK of Switchboard: holds one voice session of a widget.
 *
 *     import { connect } from 'https://switchboard.example/widget.mjs';
 *     const session = await connect({ baseUrl: 'https://switchboard.example', widgetKey: 'w_…', agentId: 'guide' });
 *     session.on('ended', ({ userMessage }) => show(userMessage));
 *     await session.connectAudio();
 *
 * Loaded as a plain script, `/widget.js`, it is the global `Switchboard`. It also runs in Node 22, and in Node 20 if you pass a `WebSocket`.
 */

import type { ClientSecret, CreateReply, CreateRequest } from '../../protocol/create.ts';
import type { RefusalBody } from '../../protocol/errors/error-body.ts';
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
 * Runs a tool on the page when the agent calls it. `args` are as the model wrote them. The handler has ten seconds; the model receives what it
 * returns (as JSON unless it is a string), or why it failed.
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

/** The reply to a create, or the server's reason for refusing it, exactly as the server sent it. */
export type Created = CreateReply | RefusalBody;

export interface ConnectOptions extends Omit<CreateRequest, 'tools'> {
  /** The session's tools. Given by name, the SDK answers their calls; given as a list, the page answers them itself on the data channel. */
  readonly tools?: CreateRequest['tools'] | ToolHandlers;
  /** Switchboard's address; by default the page's own origin. */
  readonly baseUrl?: string;
  /** Headers for every HTTP request to Switchboard, read each time; for example those of a bot-detection library. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The language of the server's `userMessage` texts, as a BCP 47 tag; by default the browser's. */
  readonly language?: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Replaces the global `WebSocket`. If there is neither, the session uses HTTP only. */
  readonly WebSocket?: typeof WebSocket;
  /** Asks for the microphone first, so that a visitor who refuses it uses no session. `connectAudio` uses it; it is released at the end. */
  readonly audio?: boolean | MediaTrackConstraints;
  /**
   * The reply of POST /api/session to the page's own back end, or a function that fetches it, called once the microphone is open. The SDK then
   * creates nothing and needs no key. It ignores the create's fields except `email`, which must be the one that the back end sent.
   */
  readonly created?: Created | (() => Created | Promise<Created>);
  /** Called when the visitor leaves during a brokered call, or before that of a continued session. The next page passes the token as `resume`. */
  readonly keep?: (token: string) => void;
  /** If aborted before the session exists, none is created; if aborted later, the session ends. */
  readonly signal?: AbortSignal;
}

/** How to open the microphone, as for `getUserMedia`. */
export type AudioConstraints = true | MediaTrackConstraints;

export interface UsageReport {
  readonly tokens?: number;
  /** Rounded to six decimals. */
  readonly dollars?: number;
  /** A report is counted only once per id. By default each report has its own id. */
  readonly id?: string;
}

/** Why a session is over. Show `userMessage`. */
export interface Ended {
  /** `not_found`: the server does not know the session. `resumed_elsewhere`: another page continues it. */
  readonly reason: EndReason | 'not_found' | 'resumed_elsewhere' | (string & {});
  readonly code: string;
  readonly userMessage: string;
}

/**
 * The connection of a call: `connecting`, `connected`, `reconnecting` (the network is gone for a moment), and finally `lost`, unless the page
 * or the end of the session ended the call. After `lost` the microphone is off, and the session goes on without a call.
 */
export interface MediaEvent {
  readonly state: 'connecting' | 'connected' | 'reconnecting' | 'lost';
  /** Why the call is lost: CALL_LOST, MICROPHONE_LOST, or what `connectAudio` throws. */
  readonly error?: SwitchboardError;
}

/**
 * The state of a call as the page knows it: `creating` (the offer was sent), `open` (it was answered), `closing` (the session is over, and
 * Switchboard is hanging up), `closed`. If `creating` follows `closed`, it is the session's next call.
 */
export type CallState = 'creating' | 'open' | 'closing' | 'closed';

/** What Switchboard observes in a call that it opened, named by `call`: it is ready; the agent speaks; the agent listens; it is over. */
export interface HeardEvent {
  readonly event: 'ready' | 'speaking' | 'listening' | 'over';
  readonly call: string;
}

/** How loud each side of a call is, from 0 (silent) to 1 (full scale). Speech is about 0.05 to 0.3. */
export type Levels = Readonly<Record<'visitor' | 'agent', number>>;

/** Who is speaking. */
export type Speaking = Readonly<Record<'visitor' | 'agent', boolean>>;

/** What one side says in one turn. */
export interface Transcript {
  /** The same in all events about one turn. A visitor's words may arrive after the answer to them. */
  readonly id: string;
  readonly who: 'visitor' | 'agent';
  /** The whole turn so far; only its end if it is long. */
  readonly text: string;
  /** True if the turn is complete. */
  readonly final: boolean;
}

export interface SessionEvents {
  /** The session's state changed. */
  readonly state: { readonly state: SessionState };
  /** The server acknowledged a heartbeat, or attached a socket. */
  readonly beat: { readonly session: SessionView };
  /** Heartbeats use this transport from now on. */
  readonly transport: { readonly transport: 'socket' | 'http' };
  /** The connection of the call changed: joined, interrupted, or lost. */
  readonly media: MediaEvent;
  /** Sent about ten times a second during a call. */
  readonly level: Levels;
  /** Somebody began or stopped speaking, as this page hears it. */
  readonly speaking: Speaking;
  /** There are new words in the conversation, spoken or written. */
  readonly transcript: Transcript;
  /** Somebody began or stopped speaking, as the provider hears it; `speaking` is what this page hears. */
  readonly speech: { readonly who: 'visitor' | 'agent'; readonly on: boolean };
  /** The agent calls a tool of the page, with arguments as the model wrote them. The handler in `tools` answers it. */
  readonly tool: { readonly id: string; readonly name: string; readonly arguments: string };
  /** Switchboard is calling a server tool and the agent waits for it (`on`), or the wait is over. */
  readonly thinking: { readonly on: boolean; readonly tool?: string | undefined };
  /** The call's state changed. */
  readonly call: { readonly state: CallState };
  /** Switchboard observed something in a call that it opened. */
  readonly heard: HeardEvent;
  /** The session will end soon: tell the visitor, or stop spending. */
  readonly warning: Warning;
  /** A usage report was counted. */
  readonly usage: { readonly usage: Usage };
  /** The session is over, and no event follows. It is sent before the call is hung up. */
  readonly ended: Ended;
  /** A failure that does not end the session, or that is being retried. NETWORK_ERROR: Switchboard does not answer, until the next `beat`. */
  readonly error: SwitchboardError;
}

export interface AudioOptions {
  /** Plays the agent's voice; by default an element that is not on the page. */
  readonly audioElement?: HTMLAudioElement;
  /** What the agent hears; by default the microphone, for which the browser asks the visitor. */
  readonly stream?: MediaStream;
  /** Where to send the call's offer; by default the address that the session gives. */
  readonly callsUrl?: string;
  /** Turns a response's usage into a report; by default its tokens, and no dollars. Not called if `brokered` is true: Switchboard meters then. */
  readonly reportUsage?: (usage: { readonly total_tokens: number; readonly [detail: string]: unknown }) => UsageReport;
}

/** A call with the provider. It ends with the session at the latest. */
export interface AudioCall {
  /** Replaced when the call is rejoined. */
  readonly peer: RTCPeerConnection;
  /** Carries the provider's events as JSON texts. Replaced when the call is rejoined; undefined if the agent forbids a data channel. */
  readonly channel: RTCDataChannel | undefined;
  readonly stream: MediaStream;
  /** Sends events of the provider's own protocol once the channel is open. @throws SwitchboardError PROVIDER_UNSUPPORTED (no data channel) */
  readonly say: (...events: object[]) => void;
  /** Makes the agent hear this track from now on. */
  readonly replaceTrack: (track: MediaStreamTrack) => Promise<void> | undefined;
  /** Hangs up. The session goes on. */
  readonly stop: () => void;
}

export interface Session {
  /** The sm_session_id. Keep it secret: its holder can act for the session. */
  readonly id: string;
  /** The session's id at the provider. */
  readonly providerSessionId: string;
  readonly clientSecret: ClientSecret;
  /** Whether Switchboard opens, meters and ends the calls. If not, `clientSecret` is the provider's. */
  readonly brokered: boolean;
  readonly limits: SessionLimits;
  /** What the page must know about the agent: whether it greets, needs a button held to talk, has captions, and must be disclosed as an AI. */
  readonly agent: CreateReply['agent'];
  readonly state: SessionState;
  readonly transport: 'socket' | 'http';
  /** Seconds since the last activity, as far as this page knows. */
  readonly idleSec: number;
  /** Listens for an event. Returns a function that stops listening. */
  readonly on: <T extends keyof SessionEvents>(type: T, listener: (event: SessionEvents[T]) => void) => () => void;
  readonly off: <T extends keyof SessionEvents>(type: T, listener: (event: SessionEvents[T]) => void) => void;
  /** Call it about once a second while somebody speaks: heartbeats then say for how long it was quiet. `connectAudio` calls it for you. */
  readonly active: () => void;
  /** Adds to the user's daily totals, once per id, and resolves with them. @throws DAILY_QUOTA_EXCEEDED: counted, and the session is over */
  readonly reportUsage: (report: UsageReport) => Promise<Usage>;
  /**
   * Joins a WebRTC call with the provider. The previous call is hung up, unless Switchboard gives no ticket for a new one. If `brokered` is true,
   * each call has its own ticket, and a call that loses its network is rejoined. Otherwise the client secret must not have expired.
   * @throws SwitchboardError SIMULATED_PROVIDER, PROVIDER_UNSUPPORTED, PROVIDER_REFUSED, CALL_LOST, MICROPHONE_…, or why the session is over
   */
  readonly connectAudio: (options?: AudioOptions) => Promise<AudioCall>;
  /**
   * Joins a call for a visitor who writes: does not ask for the microphone, and the agent hears silence. `connectAudio` replaces it; if the
   * microphone is refused then, this call stays. @throws SwitchboardError as `connectAudio`, except those of the microphone
   */
  readonly connectText: (options?: Omit<AudioOptions, 'stream'>) => Promise<AudioCall>;
  readonly muted: boolean;
  /** Mutes the visitor in this call and later ones; `mute(false)` unmutes. */
  readonly mute: (on?: boolean) => void;
  /** The available microphones, without names until the visitor has allowed one. @throws SwitchboardError MICROPHONE_INSECURE */
  readonly devices: () => Promise<MediaDeviceInfo[]>;
  /** Switches the microphone of this and later calls, but never the page's `stream`. @throws SwitchboardError MICROPHONE_…: the old one stays */
  readonly setDevice: (deviceId: string) => Promise<void>;
  /** Sends a text, which the agent answers aloud. If it is refused later or never said, an `error` has it. @throws CALL_LOST, NETWORK_ERROR */
  readonly send: (text: string) => void;
  /** Stops the agent at once. @throws SwitchboardError as `send` */
  readonly interrupt: () => void;
  /** For push-to-talk (`agent.push`): true when the visitor presses the button and is heard, false when they let go. @throws as `send` */
  readonly talk: (on: boolean) => void;
  /** Rates the conversation from 1 (bad) to 5 (good), until five minutes after its end. The last rating counts. @throws SwitchboardError */
  readonly rate: (value: number) => Promise<unknown>;
  /** Ends the session. Leaving the page does too, unless `keep` is called. */
  readonly end: () => Promise<void>;
}

/** Codes of failures that the SDK detects itself. All other codes are the server's. */
export type OwnCode =
  /** Switchboard does not answer, or something else answers in its place. */
  | 'NETWORK_ERROR'
  /** The visitor, the browser or the page's permissions policy refused the microphone. */
  | 'MICROPHONE_BLOCKED'
  /** There is no microphone, or another program is using it. */
  | 'MICROPHONE_MISSING'
  /** The page is not on https or localhost, where alone browsers allow the microphone. */
  | 'MICROPHONE_INSECURE'
  /** The microphone was unplugged, or its permission revoked, during the call. */
  | 'MICROPHONE_LOST'
  /** Switchboard has no provider key, so nobody answers a call. */
  | 'SIMULATED_PROVIDER'
  /** The provider's calls do not use WebRTC: pass `clientSecret` to its own SDK. */
  | 'PROVIDER_UNSUPPORTED'
  /** The provider refused the call, or could not be reached. */
  | 'PROVIDER_REFUSED'
  /** The provider hung up, or the network is gone. */
  | 'CALL_LOST'
  /** A tool of the page failed or took too long, and the agent was told so. */
  | 'TOOL_FAILED';

/** What went wrong, in the server's words if the server reported it. */
export declare class SwitchboardError extends Error {
  constructor(body: RefusalBody, status?: number);
  /** The server's code, or one of `OwnCode`. */
  readonly code: string;
  /** The server's message for developers, if it sent one; also in `message`. */
  readonly error: string | undefined;
  /** Show this to the visitor; `message` is for developers. */
  readonly userMessage: string;
  /** The HTTP status; 0 if there was no HTTP reply. */
  readonly status: number;
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | undefined;
  /** Why the session is over, if it is; see `Ended`. */
  readonly reason: string | undefined;
  /** Set with BOT_BLOCKED. To be admitted, solve it and connect again with its token in the header `X-Switchboard-Challenge`. */
  readonly challenge: RefusalBody['challenge'];
  /** What `send` sent, if the server has refused it afterwards: the agent has not got it. */
  readonly text: string | undefined;
}

/**
 * Creates a session and holds it. On a page, a second call with the same options before the first is done (a double click) returns the same
 * session, unless there is a `signal`, which belongs to one call only.
 * @throws SwitchboardError if the server refuses, or the microphone is not available; its `userMessage` is for the visitor
 * @throws the signal's reason if it aborts first
 */
export declare function connect(options: ConnectOptions): Promise<Session>;
