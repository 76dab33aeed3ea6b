/**
 * The browser SDK of Switchboard: holds one voice session of a widget.
 *
 *     import { connect } from 'https://switchboard.example/widget.mjs';
 *     const session = await connect({ baseUrl: 'https://switchboard.example', widgetKey: 'w_…', agentId: 'guide' });
 *     session.on('ended', ({ userMessage }) => show(userMessage));
 *     await session.connectAudio();
 *
 * As a plain script, `<script src="https://switchboard.example/widget.js">`, it is the global `Switchboard`.
 * It also runs in Node 22 and, with a `WebSocket` of your choice, in Node 20.
 */

/** Specification section 3. `idle`: nobody spoke for too long, the next heartbeat ends it. `ended` is final. */
export type SessionState = 'engaged' | 'idle' | 'stale' | 'ended';

export interface Tool {
  /** For example `http_tool`. */
  readonly kind: string;
  readonly name: string;
  readonly description?: string;
  readonly [further: string]: unknown;
}

export interface ConnectOptions {
  /** Where Switchboard is; by default the page's own origin. */
  readonly baseUrl?: string;
  readonly widgetKey?: string;
  readonly tenantId?: string;
  readonly agentId?: string;
  /** Names the user, who then has limits of their own. */
  readonly email?: string;
  readonly model?: string;
  readonly voice?: string;
  readonly instructions?: string;
  readonly tools?: readonly Tool[];
  /** Go with every HTTP request to Switchboard, read each time: what a bot-detection library adds. */
  readonly headers?: Readonly<Record<string, string>>;
  /** In the place of the global one. */
  readonly fetch?: typeof fetch;
  /** In the place of the global one; without any, the session lives on HTTP. */
  readonly WebSocket?: typeof WebSocket;
}

/** The session as the server sees it (specification section 2.4). */
export interface SessionView {
  readonly active: boolean;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly lastSeenAt: string;
  readonly durationSec: number;
  readonly idleSec: number;
}

/** The day's totals of the user and their ceilings (specification section 2.6). */
export interface Usage {
  readonly tokens: number;
  readonly dollars: number;
  readonly dailyTokenLimit: number;
  readonly dailyDollarLimit: number;
  /** ISO 8601, UTC. */
  readonly resetAt: string;
}

export interface UsageReport {
  readonly tokens?: number;
  /** Counted to six decimals. */
  readonly dollars?: number;
  /** A report is counted once per id; by default each call has its own. */
  readonly id?: string;
}

/** Why it is over. Show `userMessage`. */
export interface Ended {
  /**
   * `duration_exceeded`, `idle_exceeded`, `quota_exceeded`, `closed_by_client`, `closed_by_operator`, `key_revoked`,
   * `upstream_ended`, `abandoned`, or `not_found` for a session that the server does not know.
   */
  readonly reason: string;
  readonly code: string;
  readonly userMessage: string;
}

export interface Warning {
  /** What is about to end the session. */
  readonly reason: 'duration' | 'idle' | 'quota';
  readonly secondsLeft?: number | undefined;
}

export interface SessionEvents {
  /** The state changed. */
  readonly state: { readonly state: SessionState };
  /** The server acknowledged a heartbeat, or the first contact over a socket. */
  readonly beat: { readonly session: SessionView };
  /** Heartbeats go this way from now on. */
  readonly transport: { readonly transport: 'socket' | 'http' };
  /** The end is near: say so, or stop spending. */
  readonly warning: Warning;
  /** A report was counted. */
  readonly usage: { readonly usage: Usage };
  /** The session is over; nothing follows. */
  readonly ended: Ended;
  /** Something failed that the session goes on without, or tries again. */
  readonly error: SwitchboardError;
}

export interface AudioOptions {
  /** Plays the agent's voice; by default one that is not on the page. */
  readonly audioElement?: HTMLAudioElement;
  /** What the agent hears; by default the microphone, for which the browser asks the user. */
  readonly stream?: MediaStream;
  /** Where the call is made; by default at OpenAI. */
  readonly callsUrl?: string;
  /** Reports the tokens of each response, at so many dollars. A back end that sees the usage should do it instead. */
  readonly reportUsage?: (usage: { readonly total_tokens: number; readonly [detail: string]: unknown }) => UsageReport;
}

/** A call with the provider. It ends with the session. */
export interface AudioCall {
  readonly peer: RTCPeerConnection;
  /** The provider's events, as JSON texts. */
  readonly channel: RTCDataChannel;
  readonly stream: MediaStream;
  /** Hangs up; the session goes on. */
  readonly stop: () => void;
}

export interface Session {
  /** sm_session_id: whoever has it can speak for the session. */
  readonly id: string;
  /** The provider's session id. */
  readonly providerSessionId: string;
  /** Opens a call with the provider for a short time. */
  readonly clientSecret: { readonly value: string; /** Unix seconds. */ readonly expires_at: number };
  readonly limits: { readonly maxMinutes: number; readonly maxIdleSec: number };
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
  /**
   * Adds to the user's daily totals. Repeated under the same id until the server has answered; resolves with the day's totals.
   * @throws SwitchboardError DAILY_QUOTA_EXCEEDED: counted, and the session is over
   */
  readonly reportUsage: (report: UsageReport) => Promise<Usage>;
  /**
   * Joins the provider's WebRTC call with the client secret, which must not have expired.
   * @throws SwitchboardError SIMULATED_PROVIDER (Switchboard has no provider key), MICROPHONE_BLOCKED, PROVIDER_REFUSED
   */
  readonly connectAudio: (options?: AudioOptions) => Promise<AudioCall>;
  /** Ends the session. Leaving the page does it too. */
  readonly end: () => Promise<void>;
}

/** What went wrong, with the server's words. */
export declare class SwitchboardError extends Error {
  /** Of the server, or NETWORK_ERROR, SIMULATED_PROVIDER, MICROPHONE_BLOCKED, PROVIDER_REFUSED. */
  readonly code: string;
  /** For the user; `message` is for you. */
  readonly userMessage: string;
  /** HTTP status; 0 when there was no HTTP reply. */
  readonly status: number;
  /** Seconds to wait. */
  readonly retryAfter: number | undefined;
}

/**
 * Creates a session and holds it.
 * @throws SwitchboardError when the server refuses; its userMessage is for the user
 */
export declare function connect(options: ConnectOptions): Promise<Session>;
