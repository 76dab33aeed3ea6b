import { randomId } from '../kernel/ids.ts';
import type { CallMode } from '../protocol/call.ts';
import { Refusal, upstreamRefusal } from '../protocol/refusal.ts';
import type { Events } from '../telemetry/events.ts';
import type { SessionConfig } from '../tenants/agents.ts';
import { UpstreamFault, type Minted, type UpstreamProvider } from '../upstream/contract.ts';

/** For whom and for what a secret is issued. */
export interface IssueRequest {
  readonly sessionId: string;
  readonly subject: string;
  readonly config: SessionConfig;
  readonly atMs: number;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export interface Issued {
  readonly minted: Minted | Refusal;
  /** Whether the caller has had its try of this minute. */
  readonly isCounted: boolean;
}

/** Issues what opens the call of a session. @throws Unavailable and defects */
export type Issuer = (request: IssueRequest) => Promise<Issued>;

export type Issuers = Readonly<Record<CallMode, Issuer>>;

export interface IssuerDeps {
  readonly provider: UpstreamProvider;
  /** @throws Unavailable when the database is away */
  readonly issueTicket: (sessionId: string, atMs: number) => Promise<Pick<Minted, 'value' | 'expiresAtSec'>>;
  /** Seconds that a session lasts at most. */
  readonly maxDurationSec: number;
  readonly events: Events;
}

/** By how the calls of a session are opened: a secret that the provider mints, or a ticket of ours, of which no provider hears. */
export function createIssuers(deps: IssuerDeps): Issuers {
  return {
    direct: (request) => mint(request, deps),
    async brokered({ sessionId, atMs, signal }) {
      if (signal.aborted) return { minted: callerGone(), isCounted: false };
      const ticket = await deps.issueTicket(sessionId, atMs);
      return { minted: { sessionId: `sess_${randomId()}`, ...ticket }, isCounted: true };
    },
  };
}

async function mint(request: IssueRequest, deps: IssuerDeps): Promise<Issued> {
  const { provider, maxDurationSec, events } = deps;
  const { subject, requestId, signal } = request;
  const { model, voice, instructions, tools } = request.config;
  if (signal.aborted) return { minted: callerGone(), isCounted: false };
  const startedAt = performance.now();
  const done = (outcome: string): void => events.minted(provider.name, outcome, (performance.now() - startedAt) / 1000);
  try {
    const setup = { model, voice, instructions, tools, subjectHash: subject };
    const minted = await provider.mint({ ...setup, maxDurationSec, signal });
    done('minted');
    return { minted: signal.aborted ? callerGone() : minted, isCounted: true };
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    done(signal.aborted ? 'caller_gone' : fault.kind);
    if (signal.aborted) return { minted: callerGone(), isCounted: true };
    events.dependencyAway('provider', fault, requestId);
    return { minted: upstreamRefusal(fault), isCounted: fault.blamesRequest };
  }
}

/** Nobody is told. */
function callerGone(): Refusal {
  return new Refusal('SERVICE_UNAVAILABLE', 'The caller went away before the session was open.');
}
