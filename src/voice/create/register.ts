import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import { quotaRefusal } from '../../quota/refuse-if-spent.ts';
import { invalidWidgetKey } from '../../tenants/directory.ts';
import type { CreateDeps, CreateStep, OpeningBegun, Registered, SecretIssued } from './context.ts';
import { confirmKeySlot } from './slot.ts';

/** Registers the session. From here on it is found by whoever ends sessions, so that it is given back by an end. */
export const register: CreateStep<VoiceRecord> = {
  name: 'record',
  async take(
    context: SecretIssued,
    { sessions, provider, clock }: Pick<CreateDeps, 'sessions' | 'provider' | 'clock'>,
  ) {
    const { caller, config, opening, minted, input } = context;
    const { subject, tenantId, keyId, named, loginId } = caller;
    const isHeard = config.callMode === 'brokered' && provider.capabilities.meter === 'events';
    const who = { subject, caller: caller.caller, tenantId, agentId: config.agentId, keyId, named, loginId };
    const upstream = { provider: provider.name, upstreamId: minted.sessionId, isHeard };
    const terms = { id: opening.sessionId, ...who, ...upstream };
    const record = await sessions.open(terms, clock.now(), input.request.requestId);
    if (record.endReason !== null) return endedMeanwhile(record.endReason);
    context.record = record;
    return record;
  },
  undo: ({ id, startedAtMs }, { endReason = 'create_failed', input }, { sessions }) =>
    sessions.end(id, endReason, startedAtMs, input.request.requestId),
};

/** The answer to a caller whose session was ended while it was registered. @throws Unavailable for an end that asks for another try */
function endedMeanwhile(endReason: EndReason): Refusal {
  if (endReason === 'key_revoked') return invalidWidgetKey();
  if (endReason === 'quota_exceeded') return quotaRefusal();
  throw new Unavailable('registry', new Error(`the session was ended while it was opened (${endReason})`));
}

/**
 * Looks once more whether the quota is spent: a report that ended the subject's or the key's sessions may have been counted when this one
 * was not yet among them. The totals are read when both stores have the session: a report that they do not have yet is counted later, and
 * whoever counts it finds this one, also where one of the stores is away. The lease of the key's slot may have lapsed while the secret was
 * minted: then the create fails.
 */
export const confirmQuota: CreateStep = {
  name: 'quota once more',
  async take(context: Registered, { stores, usage }: Pick<CreateDeps, 'stores' | 'usage'>) {
    const { caller, record } = context;
    const [isHeld, refusal] = await Promise.all([
      confirmKeySlot(caller, record.id, { stores }),
      usage.refuseIfSpent(caller, record.startedAtMs),
    ]);
    if (!isHeld) throw new Unavailable('database', new Error("the key's slot lapsed while the session was opened"));
    if (refusal !== undefined) context.endReason = 'quota_exceeded';
    return refusal;
  },
};

/** A key that was revoked while the secret was minted: its sessions were ended when this one was not registered yet. */
export const confirmKey: CreateStep = {
  name: 'key once more',
  take(context: OpeningBegun, { tenants }: Pick<CreateDeps, 'tenants'>) {
    const { key, input } = context;
    if (key === null || tenants.keyOf(input.body.widgetKey ?? '')?.key.revokedAtMs === null) return undefined;
    context.endReason = 'key_revoked';
    return invalidWidgetKey();
  },
};
