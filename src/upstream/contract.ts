import type { CallMode } from '../protocol/call.ts';
import type { Behaviour } from '../protocol/behaviour.ts';
import type { Tool } from '../protocol/agent.ts';
import type { TokenClasses } from '../protocol/price.ts';
import type { UpstreamEvent } from './event-contract.ts';
import type { RoomEvent, RoomWish } from './room-contract.ts';

export type { Speaker, ToolCall, UpstreamEvent } from './event-contract.ts';

/**
 * Tokens of conversation that a response may have before it, so that none costs a whole context: about 13 minutes of talk, and the most
 * that the smallest context window leaves beside 4,096 tokens of output. What is older is left out, a fifth at once: each time the cache
 * of the provider is lost.
 */
export const MAX_CONTEXT_TOKENS = 12_000;
/** What one response may have at most, whatever is left: the providers' own bound. */
export const MAX_RESPONSE_TOKENS = 4096;

export interface MintRequest {
  readonly model: string;
  readonly voice: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly Tool[];
  readonly behaviour?: Behaviour | null | undefined;
  /** Tells the provider which calls come from one end user, without telling who. */
  readonly subjectHash: string;
  /** Where the request belongs in the trace of the session; undefined where it has none. */
  readonly traceparent?: string | undefined;
  /** Seconds that the session may last, for providers whose secrets can bound it (`capDuration`). */
  readonly maxDurationSec?: number | undefined;
  /** Who joins the room of the call and which agent is sent there, for providers that have rooms. */
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
  /** The ref of the one call that it opens, which is the provider's name of it too; undefined where it is the page that learns that name. */
  readonly callId?: string | undefined;
}

/** What a provider can do. The service asks this and never which provider it is. */
export interface Capabilities {
  /** `brokered`: we exchange the call's SDP; `token`: the browser opens the call with a secret; `none`: simulated. */
  readonly call: 'brokered' | 'token' | 'none';
  /** How we end a call. */
  readonly hangUp: 'http' | 'socket' | 'none';
  /** Whether the browser can be kept from changing the session. */
  readonly lockConfig: boolean;
  /** Seconds that a minted secret can bound a session to; null where it cannot. */
  readonly capDuration: { readonly minSec: number; readonly maxSec: number } | null;
  /** Who tells the cost: the provider's events, connected time, a report after the call, nobody. */
  readonly meter: 'events' | 'clock' | 'report-after' | 'none';
  /** Whether we read what is said in a call, and put words into it. */
  readonly converses: boolean;
  /** Whether a call can have tools of the agent or the page. */
  readonly tools: boolean;
  /** Seconds after which the provider itself ends a call; null where that is not known. */
  readonly providerMaxSec: number | null;
  /** Of calls that pages open: how long after one was last open its page can open it again with what the provider gave it, in seconds. */
  readonly returnSec?: number;
}

/** Whether Switchboard hears what happens in the calls of a session, and so what they use and whether its visitor says something. */
export function hearsCalls(mode: CallMode, { capabilities }: { readonly capabilities: Capabilities }): boolean {
  return mode === 'brokered' && capabilities.meter === 'events';
}

/** A call that a browser asks for, as we ask the provider for it. */
export interface CallRequest extends Omit<MintRequest, 'maxDurationSec'> {
  /** Checked by the policy (docs/contract.md, section 5.10). */
  readonly offerSdp: string;
  readonly dataChannel: 'open' | 'none';
  /** Tokens that one response may have at most; undefined is the provider's own bound. */
  readonly maxOutputTokens: number | undefined;
}

export interface CreatedCall {
  /** Never told to browsers. */
  readonly providerCallId: string;
  /** As the provider gave it: nobody has checked it by the policy (docs/contract.md, section 5.10). */
  readonly answerSdp: string;
}

/** What we put into a conversation. `id`: the item's, at most 32 letters, digits, hyphens and underscores; the provider makes one up without it. */
export type NewItem = { readonly id?: string | undefined } & (
  | { readonly type: 'message'; readonly role: 'user' | 'system'; readonly text: string }
  | { readonly type: 'tool_output'; readonly callId: string; readonly output: string }
);

/** How a sideband ended: the provider has closed it, as it does with the call's end, or it broke or was let go of. */
export type SidebandEnd = 'left' | 'lost';

/** A connection on which we hear a call and speak to it. */
export interface Sideband {
  /** Resolves when the connection is closed, by whomever; the call may go on. */
  readonly closed: Promise<SidebandEnd>;
  /** Bounds what one response may have from now on. */
  limitResponses(maxOutputTokens: number): void;
  /** Puts the session back to what it was created with. */
  restoreConfig(): void;
  /** Adds to the conversation; no response comes of it. */
  addItem(item: NewItem): void;
  deleteItem(id: string): void;
  /** Asks for a response of the conversation, which begins or is told as `responseRefused`. @param instructions for it alone; null for those of the session */
  createResponse(instructions: string | null): void;
  /** Forgets what the visitor said that is no turn of the conversation yet. */
  clearInput(): void;
  /** Makes that a turn, which is told as `inputCommitted`; where there is nothing of it, nothing is told. */
  commitInput(): void;
  /** The visitor hears no more of what the agent has said until now. */
  clearSpeech(): void;
  /** Cuts a response off, whose end is told as ever. @param id undefined for the one that runs in the conversation, whichever it is */
  cancelResponse(id: string | undefined): void;
  close(): void;
}

/** A provider whose calls we end, whoever opens them. */
export interface EndingProvider extends UpstreamProvider {
  /** Names the provider, its address and our credential there, and tells nothing of them to who has not the key: 16 hexadecimal digits. */
  fingerprint(installationKey: Buffer): string;
  /**
   * Ends a call. @returns `asked` when the provider has begun to, `already_over` when it knows no such call any more
   * @param hear gets what the provider tells of the call's cost as it ends it, where nobody else hears the call
   * @throws UpstreamFault where it gave no usable answer
   */
  hangUp(
    providerCallId: string,
    signal: AbortSignal,
    hear?: (event: UpstreamEvent) => void,
  ): Promise<'asked' | 'already_over'>;
  /**
   * Asks for the call elsewhere than a hang-up does (as `attach` dials it), hears nothing, and lets go.
   * @returns whether the provider knows it
   * @throws UpstreamFault where it gave no usable answer
   */
  isKnown(providerCallId: string, signal: AbortSignal): Promise<boolean>;
}

/** A provider whose calls we create, hear and end. */
export interface BrokeredProvider extends EndingProvider {
  readonly capabilities: Capabilities & { readonly call: 'brokered' };
  /**
   * Creates a call. Never retried: one whose reply was lost may exist.
   * @throws UnansweredCall where the provider named the call all the same, else UpstreamFault
   */
  createCall(request: CallRequest): Promise<CreatedCall>;
  /**
   * The tokens of a response's usage as a page's data channel tells it, where pages hear of any.
   * @returns undefined for what cannot be: counts that are negative, fractional or beyond belief
   */
  readUsage?(usage: unknown): TokenClasses | undefined;
  /**
   * Attaches to a call; resolves once its events are heard, of which the first is `ready`.
   * @param setup what the call was created with, for `restoreConfig`. `isPutBack`: its page may have changed that while nobody heard it,
   *   and it is restored first
   * @throws CallOver when the provider knows no such call any more, else UpstreamFault
   */
  attach(
    providerCallId: string,
    setup: Pick<CallRequest, 'model' | 'voice' | 'instructions' | 'tools' | 'behaviour' | 'maxOutputTokens'> & {
      readonly isPutBack?: boolean;
    },
    hear: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<Sideband>;
}

/** The provider says, in its own words for it, that it knows no such call any more. */
export class CallOver extends Error {}

export function isBrokered(provider: UpstreamProvider): provider is BrokeredProvider {
  return provider.capabilities.call === 'brokered';
}

/** Whether we end the provider's calls: those that we broker, and those of pages whose names we give. */
export function endsCalls(provider: UpstreamProvider): provider is EndingProvider {
  return isBrokered(provider) || provider.capabilities.returnSec !== undefined;
}

/** The model provider whose client secrets browsers get. Audio never passes through here. */
export interface UpstreamProvider {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** True: the secrets open nothing real. */
  readonly simulated: boolean;
  /** Where a page opens its call with a client secret: the demo page may talk to these origins. */
  readonly callOrigins: readonly string[];
  /** Where a page posts its offer with a client secret; undefined where it opens no call by one. */
  readonly callUrl?: string | undefined;
  /** Where a page joins the room of its session with a client secret, of providers that have rooms. */
  readonly roomUrl?: string | undefined;
  /** Reads and checks what the provider tells of its rooms; undefined for a word that is not the provider's. @param atMs the time of it */
  readWebhook?(body: string, authorization: string | undefined, atMs: number): Promise<RoomEvent | undefined>;
  /** The model that writes down what visitors say unless an agent names one; null where the agent must, undefined where no call needs one. */
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

/** What is known about a failed request. Only short machine-readable words: the sentences of providers quote keys. */
export interface UpstreamFaultFacts {
  /** HTTP status. */
  readonly status?: number | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** What the provider's support asks for. */
  readonly requestId?: string | undefined;
  /** Of a provider that takes no more requests for a while: how long it asks to wait. */
  readonly retryAfterSec?: number | undefined;
  /** Which part of the reply was not understood, or which error the network reported. */
  readonly detail?: string | undefined;
}

/** What a provider says was used on a day. */
export interface ProviderDay {
  /** By model, without the date of a snapshot. */
  readonly models: ReadonlyMap<string, TokenClasses>;
  /** What it bills. */
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
/** Google answers 400 to a key that it does not take. */
const keyFaults: ReadonlySet<string | undefined> = new Set(['API_KEY_INVALID']);

/** A request to a provider that failed. Safe to log whole: it never carries the provider's key, a client secret or a sentence of the provider's. */
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
   * The provider takes no more requests for so many seconds; undefined for all other faults. That what was paid for is used up is one of
   * them, though its status is the same: no waiting mends it.
   */
  get retryAfterSec(): number | undefined {
    const { code, type, retryAfterSec } = this.facts;
    return [code, type].includes('insufficient_quota') ? undefined : retryAfterSec;
  }

  /** The provider found fault with what it was asked for (a model or a tool that it does not take): it did not fail itself. */
  get blamesRequest(): boolean {
    const { status = 0, code } = this.facts;
    return this.kind === 'refused' && requestFaults.has(status) && !keyFaults.has(code);
  }
}

/** The provider has created a call, which it named, and gave no answer to it that can be used: it is to be hung up. */
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
