import type { CallMode } from '../protocol/call.ts';
import type { Behaviour } from '../protocol/behaviour.ts';
import type { Tool } from '../protocol/agent.ts';
import type { TokenClasses } from '../protocol/price.ts';
import type { UpstreamEvent } from './event-contract.ts';
import type { RoomEvent, RoomWish } from './room-contract.ts';

export type { Speaker, ToolCall, UpstreamEvent } from './event-contract.ts';

/**
 * Tokens of conversation that a response may read, so that none costs a whole context: about 13 minutes of talk, and the most that the smallest
 * context window leaves beside 4,096 tokens of output. Older tokens are dropped, a fifth at a time, because each time the provider's cache is lost.
 */
export const MAX_CONTEXT_TOKENS = 12_000;
/** Most output tokens of one response, whatever budget is left: the providers' own limit. */
export const MAX_RESPONSE_TOKENS = 4096;

export interface MintRequest {
  readonly model: string;
  readonly voice: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly Tool[];
  readonly behaviour?: Behaviour | null | undefined;
  /** Tells the provider which calls come from the same end user, without saying who that is. */
  readonly subjectHash: string;
  /** Where the request belongs in the session's trace; undefined where the session has none. */
  readonly traceparent?: string | undefined;
  /** Seconds that the session may last, for providers whose secrets can limit it (`capDuration`). */
  readonly maxDurationSec?: number | undefined;
  /** Who joins the call's room and which agent is sent there, for providers that have rooms. */
  readonly room?: RoomWish | undefined;
  /** Aborts when nobody waits for the secret any more. */
  readonly signal: AbortSignal;
}

/** An ephemeral client secret: lets a browser open a call with the provider for a short time. */
export interface Minted {
  /** The provider's session id, or one of ours when it gives none; prefix `sess_`. */
  readonly sessionId: string;
  readonly value: string;
  /** Seconds since the Unix epoch. */
  readonly expiresAtSec: number;
  /** The ref of the only call that it opens, and the provider's name of it too; undefined where only the page learns that name. */
  readonly callId?: string | undefined;
}

/** What a provider can do. The service checks these, never which provider it is. */
export interface Capabilities {
  /** `brokered`: we exchange the call's SDP; `token`: the browser opens the call with a secret; `none`: simulated. */
  readonly call: 'brokered' | 'token' | 'none';
  /** How we end a call. */
  readonly hangUp: 'http' | 'socket' | 'none';
  /** Whether the browser can be kept from changing the session. */
  readonly lockConfig: boolean;
  /** Seconds to which a minted secret can limit a session; null where it cannot. */
  readonly capDuration: { readonly minSec: number; readonly maxSec: number } | null;
  /** Where the cost comes from: the provider's events, connected time, a report after the call, or nowhere. */
  readonly meter: 'events' | 'clock' | 'report-after' | 'none';
  /** Whether we read what is said in a call, and add words to it. */
  readonly converses: boolean;
  /** Whether a call can have tools of the agent or the page. */
  readonly tools: boolean;
  /** Seconds after which the provider itself ends a call; null where that is not known. */
  readonly providerMaxSec: number | null;
  /** For calls that pages open: seconds since a call was last open during which its page can open it again with what the provider gave it. */
  readonly returnSec?: number;
}

/** Whether Switchboard hears a session's calls, and so knows what they use and whether the visitor speaks. */
export function hearsCalls(mode: CallMode, { capabilities }: { readonly capabilities: Capabilities }): boolean {
  return mode === 'brokered' && capabilities.meter === 'events';
}

/** A call that a browser asks for, as we request it from the provider. */
export interface CallRequest extends Omit<MintRequest, 'maxDurationSec'> {
  /** Already checked against the policy (docs/contract.md, section 5.10). */
  readonly offerSdp: string;
  readonly dataChannel: 'open' | 'none';
  /** Most output tokens of one response; undefined uses the provider's own limit. */
  readonly maxOutputTokens: number | undefined;
}

export interface CreatedCall {
  /** Never sent to browsers. */
  readonly providerCallId: string;
  /** As the provider gave it, not yet checked against the policy (docs/contract.md, section 5.10). */
  readonly answerSdp: string;
}

/** What we add to a conversation. `id`: the item's, at most 32 letters, digits, hyphens and underscores; without it the provider makes one up. */
export type NewItem = { readonly id?: string | undefined } & (
  | { readonly type: 'message'; readonly role: 'user' | 'system'; readonly text: string }
  | { readonly type: 'tool_output'; readonly callId: string; readonly output: string }
);

/** How a sideband ended. `left`: the provider closed it, as it does when the call ends; `lost`: it broke, or we let go of it. */
export type SidebandEnd = 'left' | 'lost';

/** A connection on which we hear a call and speak to it. */
export interface Sideband {
  /** Resolves when the connection is closed, by either side; the call may go on. */
  readonly closed: Promise<SidebandEnd>;
  /** Limits the output of each response from now on. */
  limitResponses(maxOutputTokens: number): void;
  /** Restores the session to what it was created with. */
  restoreConfig(): void;
  /** Adds an item to the conversation; it starts no response. */
  addItem(item: NewItem): void;
  deleteItem(id: string): void;
  /** Asks for a response, which begins or is reported as `responseRefused`. @param instructions for it alone; null for the session's */
  createResponse(instructions: string | null): void;
  /** Discards what the visitor said that is not a turn of the conversation yet. */
  clearInput(): void;
  /** Makes what the visitor said a turn, reported as `inputCommitted`; if they said nothing, nothing is reported. */
  commitInput(): void;
  /** The visitor hears no more of what the agent has said so far. */
  clearSpeech(): void;
  /** Cuts a response off; its end is reported as usual. @param id undefined for whichever response of the conversation is running */
  cancelResponse(id: string | undefined): void;
  close(): void;
}

/** A provider whose calls we end, whoever opens them. */
export interface EndingProvider extends UpstreamProvider {
  /** Identifies the provider, its address and our credential, without revealing them to anybody without the key: 16 hexadecimal digits. */
  fingerprint(installationKey: Buffer): string;
  /**
   * Ends a call. @returns `asked` when the provider has begun to, `already_over` when it no longer knows the call
   * @param hear receives what the provider reports about the call's cost as it ends, where nobody else hears the call
   * @throws UpstreamFault where it gave no usable answer
   */
  hangUp(
    providerCallId: string,
    signal: AbortSignal,
    hear?: (event: UpstreamEvent) => void,
  ): Promise<'asked' | 'already_over'>;
  /**
   * Asks about the call at another endpoint than a hang-up (the one that `attach` dials), then disconnects without hearing anything.
   * @returns whether the provider knows it
   * @throws UpstreamFault where it gave no usable answer
   */
  isKnown(providerCallId: string, signal: AbortSignal): Promise<boolean>;
}

/** A provider whose calls we create, hear and end. */
export interface BrokeredProvider extends EndingProvider {
  readonly capabilities: Capabilities & { readonly call: 'brokered' };
  /**
   * Creates a call. Never retried: a call whose reply was lost may exist.
   * @throws UnansweredCall where the provider named the call even so, otherwise UpstreamFault
   */
  createCall(request: CallRequest): Promise<CreatedCall>;
  /**
   * Reads a response's usage as a page's data channel reports it, where pages see usage at all.
   * @returns undefined for impossible values: counts that are negative, fractional or far too large
   */
  readUsage?(usage: unknown): TokenClasses | undefined;
  /**
   * Attaches to a call; resolves once its events are heard, the first of which is `ready`.
   * @param setup what the call was created with, for `restoreConfig`. `isPutBack`: its page may have changed that while nobody heard it, so it is
   *   restored first. `mayBeSpeaking`: it was open before, so what its agent said may still be played
   * @throws CallOver when the provider no longer knows the call, otherwise UpstreamFault
   */
  attach(
    providerCallId: string,
    setup: Pick<CallRequest, 'model' | 'voice' | 'instructions' | 'tools' | 'behaviour' | 'maxOutputTokens'> & {
      readonly isPutBack?: boolean;
      readonly mayBeSpeaking?: boolean;
    },
    hear: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<Sideband>;
}

/** The provider says, in its own words for that, that it no longer knows the call. */
export class CallOver extends Error {}

export function isBrokered(provider: UpstreamProvider): provider is BrokeredProvider {
  return provider.capabilities.call === 'brokered';
}

/** Whether we end the provider's calls: those that we broker, and those that pages open under names we give. */
export function endsCalls(provider: UpstreamProvider): provider is EndingProvider {
  return isBrokered(provider) || provider.capabilities.returnSec !== undefined;
}

/** The model provider whose client secrets browsers get. Audio never passes through here. */
export interface UpstreamProvider {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** True if the secrets open nothing real. */
  readonly simulated: boolean;
  /** Where a page opens its call with a client secret: the demo page may connect to these origins. */
  readonly callOrigins: readonly string[];
  /** Where a page posts its offer with a client secret; undefined where no page does. */
  readonly callUrl?: string | undefined;
  /** Where a page joins its session's room with a client secret, for providers that have rooms. */
  readonly roomUrl?: string | undefined;
  /** Reads and checks a provider's report about its rooms; undefined if it is not the provider's. @param atMs when it was received */
  readWebhook?(body: string, authorization: string | undefined, atMs: number): Promise<RoomEvent | undefined>;
  /** The model that transcribes visitors unless an agent names one; null where the agent must name it, undefined where no call needs one. */
  readonly transcriber?: string | null | undefined;
  /** Mints one client secret. Never retried here: a mint whose reply was lost may have happened. @throws UpstreamFault */
  mint(request: MintRequest): Promise<Minted>;
  /** Ends what lives in this process. */
  close?(): Promise<void>;
}

/**
 * - `timeout`: no whole reply in time, or the caller gave up
 * - `refused`: a reply other than success
 * - `malformed`: success, but not a reply that we understand
 * - `unreachable`: no connection, or it broke
 */
export type UpstreamFaultKind = 'timeout' | 'refused' | 'malformed' | 'unreachable';

/** What is known about a failed request. Only short machine-readable words: providers' sentences may quote keys. */
export interface UpstreamFaultFacts {
  /** HTTP status. */
  readonly status?: number | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** What the provider's support asks for. */
  readonly requestId?: string | undefined;
  /** How long the provider asks to wait, if it takes no more requests for a while. */
  readonly retryAfterSec?: number | undefined;
  /** Which part of the reply was not understood, or which error the network reported. */
  readonly detail?: string | undefined;
}

/** What a provider says was used on a day. */
export interface ProviderDay {
  /** By model, without the date of a snapshot. */
  readonly models: ReadonlyMap<string, TokenClasses>;
  /** What the provider bills. */
  readonly microDollars: number;
}

/** Reads what a provider says was used. */
export interface ProviderUsageReader {
  /** The account, as reconciled days name it, and the providers whose calls it bills. */
  readonly upstream: string;
  readonly providers: readonly string[];
  /** @throws UpstreamFault */
  read(fromMs: number, toMs: number): Promise<ProviderDay>;
}

/** Bad request, unknown model, too large, unprocessable. Not 401 or 403, which are about the provider's key, and not 429. */
const requestFaults: ReadonlySet<number> = new Set([400, 404, 413, 422]);
/** Google answers 400 to a key that it does not accept. */
const keyFaults: ReadonlySet<string | undefined> = new Set(['API_KEY_INVALID']);

/** A failed request to a provider. Safe to log whole: it never contains the provider's key, a client secret or a sentence of the provider's. */
export class UpstreamFault extends Error {
  readonly kind: UpstreamFaultKind;
  /** What happened, in our words. */
  readonly what: string;
  readonly facts: UpstreamFaultFacts;

  constructor(kind: UpstreamFaultKind, what: string, facts: UpstreamFaultFacts = {}) {
    const known = Object.entries(facts).filter(([, value]) => value !== undefined);
    super([what, ...known.map(([name, value]) => `${name} ${value}`)].join(', '));
    this.name = 'UpstreamFault';
    this.kind = kind;
    this.what = what;
    this.facts = Object.fromEntries(known);
  }

  /**
   * Seconds for which the provider takes no more requests; undefined for all other faults, including an exhausted balance: it has the same status,
   * but waiting does not help.
   */
  get retryAfterSec(): number | undefined {
    const { code, type, retryAfterSec } = this.facts;
    return [code, type].includes('insufficient_quota') ? undefined : retryAfterSec;
  }

  /** The provider rejected what it was asked for (such as an unknown model or tool); it did not fail itself. */
  get blamesRequest(): boolean {
    const { status = 0, code } = this.facts;
    return this.kind === 'refused' && requestFaults.has(status) && !keyFaults.has(code);
  }
}

/** The provider created and named a call, but gave no usable answer for it: it must be hung up. */
export class UnansweredCall extends UpstreamFault {
  /** Private, because faults are logged whole. */
  readonly #providerCallId: string;

  constructor(providerCallId: string, { kind, what, facts }: UpstreamFault) {
    super(kind, what, facts);
    this.#providerCallId = providerCallId;
  }

  get providerCallId(): string {
    return this.#providerCallId;
  }
}
