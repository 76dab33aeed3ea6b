import { andThen } from '../kernel/async.ts';
import { Lru } from '../kernel/collections.ts';
import { sumOf, type TokenClasses } from '../protocol/price.ts';
import type { Ledger, UsageTotals } from '../stores/ledger/contract.ts';
import type { SessionSetup, SessionSetups } from '../stores/session-setups/contract.ts';
import type { VoiceCalls } from '../stores/voice-calls/contract.ts';
import type { ClientReports, Metering } from './contract.ts';

/** Sessions whose setup is remembered: a session's client reports often. */
const MAX_SESSIONS = 10_000;

type CallMode = SessionSetup['callMode'];

export interface ClientReportsDeps {
  /** The provider is simulated: a session is metered only while it has an open call, and nothing is billed. */
  readonly isSimulated: boolean;
  readonly setups: Pick<SessionSetups, 'find'>;
  readonly calls: Pick<VoiceCalls, 'ofSession'>;
  readonly ledger: Pick<Ledger, 'metersOf'>;
  readonly metering: Pick<Metering, 'report'>;
  /** The tokens of a response's usage, in the provider's format; undefined for impossible values. */
  readonly readUsage: (usage: unknown) => TokenClasses | undefined;
}

/** Reports by clients of metered sessions: they fill gaps, but lower nothing and count nothing twice (docs/contract.md, section 5.12). */
export function createClientReports(deps: ClientReportsDeps): ClientReports {
  const modes = new Lru<CallMode>(MAX_SESSIONS);

  async function lookUp(sessionId: string): Promise<CallMode> {
    const mode = (await deps.setups.find(sessionId))?.callMode ?? 'direct';
    modes.set(sessionId, mode);
    return mode;
  }

  async function hasOpenCall(sessionId: string): Promise<boolean> {
    const calls = await deps.calls.ofSession(sessionId);
    return calls.some(({ state }) => state === 'open');
  }

  return {
    isMetered: (sessionId) =>
      andThen(modes.get(sessionId) ?? lookUp(sessionId), (mode) => {
        if (mode === 'direct') return false;
        return deps.isSimulated ? hasOpenCall(sessionId) : true;
      }),

    async fillGap({ sessionId, subject, caller, tenantId, keyId }, { id, usage, call: ref }, atMost, atMs) {
      const calls = await deps.calls.ofSession(sessionId);
      const call = ref === undefined ? calls[0] : calls.find((each) => each.id === ref);
      const tokens = deps.readUsage(usage);
      if (call === undefined || tokens === undefined || tenantId === null) return undefined;
      const [meter] = await deps.ledger.metersOf([call.id]);
      if (meter === undefined || meter.gapMs === 0) return undefined;
      if (atMost !== null && passes(tokens, meter.tokens, atMost)) return 'implausible';
      const price = (await deps.setups.find(sessionId))?.price ?? null;
      const metered = { callId: call.id, sessionId, subject, caller, tenantId, keyId, model: call.model, price };
      return deps.metering.report(metered, id, tokens, atMs);
    },
  };
}

function passes(told: TokenClasses, counted: TokenClasses, atMost: UsageTotals): boolean {
  return sumOf(told) + sumOf(counted) > atMost.tokens;
}
