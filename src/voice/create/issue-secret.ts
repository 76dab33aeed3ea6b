import { randomId } from '../../kernel/ids.ts';
import { Refusal, upstreamRefusal } from '../../protocol/refusal.ts';
import { UpstreamFault, type Minted } from '../../upstream/contract.ts';
import type { CreateDeps, CreateStep, OpeningBegun } from './context.ts';

type IssueDeps = Pick<CreateDeps, 'calls' | 'events' | 'provider' | 'sessions'>;

interface Issued {
  readonly minted: Minted | Refusal;
  /** Whether the caller has had its try of this minute: not where the provider failed, or nobody was asked for anything. */
  readonly isCounted: boolean;
}

/** Issues what opens the calls of the session: a secret that the provider mints, or a ticket of ours, of which no provider hears. */
export const issueSecret: CreateStep = {
  name: 'mint',
  async take(context: OpeningBegun, deps: IssueDeps) {
    const { config, opening } = context;
    const { minted, isCounted } = await (config.callMode === 'direct'
      ? mint(context, deps)
      : issueTicket(context, deps));
    await opening.setupSaved;
    context.isCounted = isCounted;
    if (minted instanceof Refusal) return minted;
    context.minted = minted;
    return undefined;
  },
};

async function issueTicket({ input, opening }: OpeningBegun, { calls }: IssueDeps): Promise<Issued> {
  if (input.request.signal().aborted) return { minted: callerGone(), isCounted: false };
  const ticket = await calls.tickets.issue(opening.sessionId, opening.atMs);
  return { minted: { sessionId: `sess_${randomId()}`, ...ticket }, isCounted: true };
}

async function mint({ input: { request }, caller, config }: OpeningBegun, deps: IssueDeps): Promise<Issued> {
  const { provider, sessions, events } = deps;
  const { model, voice, instructions, tools } = config;
  const signal = request.signal();
  if (signal.aborted) return { minted: callerGone(), isCounted: false };
  const startedAt = performance.now();
  const measure = (outcome: string): void =>
    events.minted(provider.name, outcome, (performance.now() - startedAt) / 1000);
  try {
    const setup = { model, voice, instructions, tools, subjectHash: caller.subject };
    const minted = await provider.mint({ ...setup, maxDurationSec: sessions.limits.maxMinutes * 60, signal });
    measure('minted');
    return { minted: signal.aborted ? callerGone() : minted, isCounted: true };
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    measure(signal.aborted ? 'caller_gone' : fault.kind);
    if (signal.aborted) return { minted: callerGone(), isCounted: true };
    events.dependencyAway('provider', fault, request.requestId);
    return { minted: upstreamRefusal(fault), isCounted: fault.blamesRequest };
  }
}

/** Nobody is there to read it. */
function callerGone(): Refusal {
  return new Refusal('SERVICE_UNAVAILABLE', 'The caller went away before the session was open.');
}
