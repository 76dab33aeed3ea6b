import type { Tool } from '../protocol/agent.ts';

export interface MintRequest {
  readonly model: string;
  readonly voice: string;
  readonly instructions?: string | undefined;
  readonly tools: readonly Tool[];
  /** Tells the provider which calls come from one end user, without telling who. */
  readonly subjectHash: string;
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
}

/** The model provider whose client secrets browsers get. Audio never passes through here. */
export interface UpstreamProvider {
  readonly name: string;
  /** True: the secrets open nothing real. */
  readonly simulated: boolean;
  /** Where a page opens its call with a client secret: the demo page may talk to these origins. */
  readonly callOrigins: readonly string[];
  /**
   * Mints one client secret. Never retried here: a mint whose reply was lost may have happened.
   * @throws UpstreamFault
   */
  mint(request: MintRequest): Promise<Minted>;
}

/**
 * - `timeout`: no whole reply in time, or the caller gave up
 * - `refused`: a reply other than success
 * - `malformed`: success, but not a reply that we understand
 * - `unreachable`: no connection, or it broke
 */
export type UpstreamFaultKind = 'timeout' | 'refused' | 'malformed' | 'unreachable';

/** What is known about a failed mint. Only short machine-readable words: the sentences of providers quote keys. */
export interface UpstreamFaultFacts {
  /** HTTP status. */
  readonly status?: number | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** What the provider's support asks for. */
  readonly requestId?: string | undefined;
  /** Which part of the reply was not understood, or which error the network reported. */
  readonly detail?: string | undefined;
}

/** Bad request, unknown model, too large, unprocessable. Not 401 or 403, which are about the provider's key, and not 429. */
const requestFaults: ReadonlySet<number> = new Set([400, 404, 413, 422]);

/** A mint that failed. Safe to log whole: it never carries the provider's key, a client secret or a sentence of the provider's. */
export class UpstreamFault extends Error {
  readonly kind: UpstreamFaultKind;
  readonly facts: UpstreamFaultFacts;

  /** `what` happened, in our words. */
  constructor(kind: UpstreamFaultKind, what: string, facts: UpstreamFaultFacts = {}) {
    const known = Object.entries(facts).filter(([, value]) => value !== undefined);
    super([what, ...known.map(([name, value]) => `${name} ${value}`)].join(', '));
    this.name = 'UpstreamFault';
    this.kind = kind;
    this.facts = Object.fromEntries(known);
  }

  /** The provider found fault with what it was asked for (a model or a tool that it does not take): it did not fail itself. */
  get blamesRequest(): boolean {
    return this.kind === 'refused' && requestFaults.has(this.facts.status ?? 0);
  }
}
