import type { CallSessions } from '../calls/contract.ts';
import { SealedRecaps } from '../calls/pages/context-carryover.ts';
import { ResumeTokens } from '../calls/resume-tokens.ts';
import { Tickets } from '../calls/tickets.ts';
import type { ServerToolParts } from '../calls/tools/tool-sender.ts';
import { BusWhispers } from '../calls/bus-requests.ts';
import { VoiceCalls } from '../calls/voice-calls.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import { endsCalls, type EndingProvider } from '../upstream/contract.ts';
import { createCallModes } from '../tenants/agents.ts';
import type { Core } from './core.ts';
import type { OpenUsage } from './usage.ts';

interface CallsNeighbours {
  readonly sessions: CallSessions;
  readonly usage: Pick<OpenUsage, 'metering' | 'budgets'>;
  readonly serverTools: ServerToolParts;
}

/** The calls of the service: those that this node holds, where the provider lets it open them, their tickets, and how they are opened. */
export function openCalls(core: Core, neighbours: CallsNeighbours) {
  const { config, stores, provider } = core;
  const resumeTokens = new ResumeTokens({ store: stores.resumeTokens, ...config });
  const held = endsCalls(provider) ? openHeld(core, provider, { ...neighbours, resumeTokens }) : undefined;
  return {
    open: held === undefined ? openNone : held.open.bind(held),
    ofSession: stores.calls.ofSession.bind(stores.calls),
    runningResponses: held === undefined ? async () => undefined : held.runningResponses.bind(held),
    /** The calls that this node holds; undefined where it holds none and so ends none. */
    held,
    ofPages: () => (provider.capabilities.returnSec === undefined ? undefined : held?.ofPages),
    tickets: new Tickets({ store: stores.callTickets, ttlSec: config.upstream.clientSecretTtlSec }),
    whispers: new BusWhispers({ bus: core.live.bus, clock: core.clock }),
    resumeTokens,
    awaitNext: held === undefined ? async () => undefined : held.awaitNext.bind(held),
    modeOf: createCallModes(config.calls.mode, provider),
  };
}

/** A ticket from before the provider was changed opens nothing. */
async function openNone(): Promise<Refusal> {
  return new Refusal('UPSTREAM_ERROR', 'The voice provider opens no brokered calls.');
}

interface HeldNeighbours extends CallsNeighbours {
  readonly resumeTokens: ResumeTokens;
}

function openHeld(core: Core, provider: EndingProvider, neighbours: HeldNeighbours): VoiceCalls {
  const { sessions, usage, serverTools, resumeTokens } = neighbours;
  const { config, stores, live, metrics, others, installationKey, clock, events, journal, onError } = core;
  const { calls, voice, upstream } = config;
  const { graceSec, unheardSec, sidebandReadyMs: readyMs, perSession, maxOpenResponses } = calls;
  const held = new VoiceCalls({
    limits: { graceSec, unheardSec, returnSec: provider.capabilities.returnSec },
    voiceLimits: voice,
    createTimeoutMs: upstream.timeoutMs,
    readyMs,
    perSession,
    maxOpenResponses,
    lease: core.lease,
    provider,
    others,
    installationKey,
    recaps: new SealedRecaps({ store: live.recaps, installationKey, clock, keepMs: voice.maxMinutes * MINUTE_MS }),
    store: stores.calls,
    nodes: stores.liveNodes,
    setups: stores.sessionSetups,
    sessions,
    resumeTokens,
    holds: stores.holds,
    metering: usage.metering,
    budgets: usage.budgets,
    serverTools,
    bus: live.bus,
    clock,
    events,
    trace: journal.trace,
    onError,
  });
  metrics.observe('switchboard_calls_held', 'Calls at the provider that this process holds', () => held.held);
  metrics.observe(
    'switchboard_calls_foreign',
    'Calls that may go on and that nobody here has the credential to ask for',
    () => held.foreign,
  );
  metrics.observe('switchboard_call_sidebands', 'Calls that this process hears', () => held.sidebands);
  return held;
}
