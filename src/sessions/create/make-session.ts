import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import { randomId } from '../../kernel/ids.ts';
import { transcriptionOf } from '../../protocol/behaviour.ts';
import type { AgentTerms } from '../../protocol/create.ts';
import { serverToolsOf } from '../../protocol/server-tool.ts';
import { Refusal, upstreamRefusal } from '../../protocol/refusal.ts';
import { quotaRefusal } from '../../quota/quota-refusal.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import { invalidWidgetKey } from '../../tenants/directory.ts';
import { hearsCalls, UpstreamFault, type Minted, type UpstreamProvider } from '../../upstream/contract.ts';
import { stoppedRefusal } from './admit-caller.ts';
import { toldLimits } from '../../../machines/voice-session/selectors.ts';
import { confirmKeySlot } from './rate-and-concurrency-limits.ts';
import type { CreateContext, CreateDeps, CreateStep, OpeningBegun, SessionRegistered, SecretIssued } from './step.ts';

type IssueDeps = Pick<CreateDeps, 'calls' | 'events' | 'provider' | 'sessions'>;

interface IssuedSecret {
  readonly minted: Minted | Refusal;
  /** Whether the caller has used its try of this minute: not where the provider failed, or was never asked. */
  readonly keepsCount: boolean;
}

/** Issues what opens the session's calls: a secret that the provider mints, or a ticket of ours, which involves no provider. */
export const issueSecret: CreateStep = {
  name: 'mint',
  async take(context: OpeningBegun, deps: IssueDeps) {
    const { minted, keepsCount } =
      context.config.callMode === 'direct' ? await mint(context, deps) : issueTicket(context, deps);
    context.keepsCount = keepsCount;
    if (minted instanceof Refusal) return minted;
    context.minted = minted;
    return undefined;
  },
};

function issueTicket(context: OpeningBegun, { calls }: IssueDeps): IssuedSecret {
  const { input, opening } = context;
  if (input.request.signal().aborted) return { minted: callerGone(), keepsCount: false };
  const { ticket, kept } = calls.tickets.make(opening.sessionId, opening.atMs);
  context.ticket = kept;
  return { minted: { sessionId: `sess_${randomId()}`, ...ticket }, keepsCount: true };
}

async function mint(
  { input: { request, visitor }, caller, config, opening, trace }: OpeningBegun,
  deps: IssueDeps,
): Promise<IssuedSecret> {
  const { provider, sessions, events } = deps;
  const { model, voice, instructions, tools, behaviour } = config;
  const signal = request.signal();
  if (signal.aborted) return { minted: callerGone(), keepsCount: false };
  const startedAt = performance.now();
  const measure = (outcome: string): void =>
    events.minted(provider.name, outcome, (performance.now() - startedAt) / 1000);
  try {
    const traceparent = trace?.traceparentOfMint(opening.sessionId);
    const setup = { model, voice, instructions, tools, behaviour, subjectHash: caller.subject, traceparent };
    const room = { ...visitor, agentName: config.agentName ?? undefined };
    const maxDurationSec = sessions.limits.maxMinutes * 60;
    const minted = await provider.mint({ ...setup, room, maxDurationSec, signal });
    measure('minted');
    return { minted: signal.aborted ? callerGone() : minted, keepsCount: true };
  } catch (fault) {
    if (!(fault instanceof UpstreamFault)) throw fault;
    measure(signal.aborted ? 'caller_gone' : fault.kind);
    if (signal.aborted) return { minted: callerGone(), keepsCount: true };
    events.dependencyAway('provider', fault, request.requestId);
    return { minted: upstreamRefusal(fault), keepsCount: fault.blamesRequest };
  }
}

/** Nobody is left to read this refusal. */
function callerGone(): Refusal {
  return new Refusal('SERVICE_UNAVAILABLE', 'The caller went away before the session was open.');
}

/** Registers the session. From here on everything that ends sessions finds it, so undoing this step means ending it. */
export const register: CreateStep<VoiceRecord> = {
  name: 'record',
  async take(
    context: SecretIssued,
    { sessions, provider, clock, contexts }: Pick<CreateDeps, 'sessions' | 'provider' | 'clock' | 'contexts'>,
  ) {
    const { caller, config, opening, minted, input } = context;
    const { subject, tenantId, keyId, named, loginId } = caller;
    const isHeard = hearsCalls(config.callMode, provider);
    const who = { subject, caller: caller.caller, tenantId, agentId: config.agentId, keyId, named, loginId };
    const upstream = { provider: provider.name, upstreamId: minted.sessionId, isHeard };
    const terms = { id: opening.sessionId, ...who, ...upstream };
    const wordsWithinSec = isHeard && isNewVisitor(context) ? context.key?.limits.newVisitorSeconds : undefined;
    context.setup = setupOf(context, contexts);
    const kept = { setup: context.setup, ticket: context.ticket, wordsWithinSec };
    // A ticket involves no provider: if the session cannot be kept, the caller has not used its try of this minute.
    if (context.ticket !== undefined) context.keepsCount = false;
    const record = await sessions.open(terms, kept, clock.now(), input.request.requestId);
    context.keepsCount = true;
    if (record.endReason !== null) return endedMeanwhile(record.endReason);
    context.record = record;
    return record;
  },
  undo: ({ id, startedAtMs }, { endReason = 'create_failed', input }, { sessions }) =>
    sessions.end(id, endReason, startedAtMs, input.request.requestId),
};

/**
 * Whether nobody vouches for who the visitor is, and they solved no challenge (docs/contract.md, section 4.5). An address that a page names proves
 * nothing: a script would name another one each time.
 */
function isNewVisitor({ caller, hasSolved, input: { isService, vouches } }: OpeningBegun): boolean {
  const isAnsweredFor = vouches === true || (caller.named && isService);
  return caller.caller === 'widget' && hasSolved !== true && !isAnsweredFor;
}

/**
 * The setup that the session's calls are opened with. Where the page opens its calls itself and we do not end them, only its trace and its creator's
 * metadata are of use later: the agent's terms are left out, and without either nothing is kept.
 */
function setupOf(
  { input, config, minted, opening: { sessionId, atMs }, trace: measured }: SecretIssued,
  contexts: CreateDeps['contexts'],
): SessionSetup | undefined {
  const { agentId: _agentId, agentName: _agentName, instructions = null, ...terms } = config;
  const { callMode, metadata, tools } = terms;
  const trace = measured?.kept(sessionId) ?? null;
  const kept = { sessionId, ...terms, trace, createdAtMs: atMs };
  if (callMode === 'direct' && minted.callId === undefined)
    return metadata === null && trace === null ? undefined : { ...kept, ...NO_TERMS };
  const { context } = input.body;
  // Only the servers of tools are given the context: where the agent has no such tool it is not kept.
  const isAsked = context !== undefined && serverToolsOf(tools).size > 0;
  const sealedContext = isAsked
    ? (contexts?.seal(JSON.stringify(context), sessionId).toString('base64') ?? null)
    : null;
  return { ...kept, instructions, sealedContext };
}

/** In place of what only calls need that we open or end. */
const NO_TERMS = { instructions: null, tools: [], behaviour: null, price: null, sealedContext: null };

/** Holds the call that the secret opens, before anybody has the secret. The session's end also ends that call, even where the create is refused. */
export const holdCall: CreateStep = {
  name: 'call',
  async take(context: SessionRegistered, { calls }: Pick<CreateDeps, 'calls'>) {
    const { record: session, setup, minted, input } = context;
    const { callId } = minted;
    if (callId === undefined || setup === undefined) return;
    await calls.ofPages?.()?.adopt({ session, setup, callId, requestId: input.request.requestId });
  },
};

/** The answer to a caller whose session was ended while it was registered. @throws Unavailable for an end after which the caller should try again */
function endedMeanwhile(endReason: EndReason): Refusal {
  if (endReason === 'key_revoked') return invalidWidgetKey();
  if (endReason === 'quota_exceeded') return quotaRefusal();
  throw new Unavailable('registry', new Error(`the session was ended while it was opened (${endReason})`));
}

/**
 * Checks the quota once more: a report that ended the subject's or the key's sessions may have been counted before this session was among them. The
 * totals are read when both stores have the session: whoever counts a later report finds this session, even if one of the stores is away. The create
 * fails if the lease of the key's slot lapsed while the secret was minted.
 */
export const confirmQuota: CreateStep = {
  name: 'quota once more',
  async take(context: SessionRegistered, { stores, usage }: Pick<CreateDeps, 'stores' | 'usage'>) {
    const { caller, record } = context;
    const { agentId } = record;
    const [isHeld, refusal] = await Promise.all([
      confirmKeySlot(caller, record.id, { stores }),
      usage.refuseIfSpent({ ...caller, agentId }, record.startedAtMs),
    ]);
    if (!isHeld) throw new Unavailable('database', new Error("the key's slot lapsed while the session was opened"));
    if (refusal !== undefined) context.endReason = 'quota_exceeded';
    return refusal;
  },
};

/** The key was revoked, or the service stopped, while the secret was minted: ending sessions did not find this one. */
export const confirmKey: CreateStep = {
  name: 'key once more',
  take(context: OpeningBegun, { tenants }: Pick<CreateDeps, 'tenants'>) {
    const { key, tenant, input } = context;
    if (tenants.stopOf(tenant.id) !== undefined) {
      context.endReason = 'closed_by_operator';
      return stoppedRefusal();
    }
    if (key === null || tenants.keyOf(input.body.widgetKey ?? '')?.key.revokedAtMs === null) return undefined;
    context.endReason = 'key_revoked';
    return invalidWidgetKey();
  },
};

type SessionTerms = Pick<SessionSetup, 'callMode' | 'dataChannel' | 'behaviour' | 'tools'>;

/** A session that was opened, or that its page continues. */
type Reachable = CreateContext &
  Pick<SessionRegistered, 'minted' | 'record'> &
  (Pick<SessionRegistered, 'config'> | { readonly resumed: SessionSetup });

export const makeReply: CreateStep = {
  name: 'reply',
  take(context: Reachable, deps: Pick<CreateDeps, 'publicUrl' | 'config' | 'sessions' | 'provider'>) {
    const { record, minted } = context;
    const terms = termsOf(context);
    const { callMode: mode, dataChannel, tools } = terms;
    const serverTools = converses(terms, deps.provider) ? [...serverToolsOf(tools).keys()] : [];
    const base = deps.publicUrl();
    context.reply = {
      id: minted.sessionId,
      sm_session_id: record.id,
      client_secret: { value: minted.value, expires_at: minted.expiresAtSec },
      heartbeat: {
        intervalSec: deps.config.heartbeatIntervalSec,
        url: `${base}/api/realtime/heartbeat`,
        socketUrl: `${base.replace(/^http/, 'ws')}/api/realtime/socket`,
      },
      limits: toldLimits(record, deps.sessions.limits),
      call: {
        mode,
        url: mode === 'brokered' ? `${base}/api/realtime/calls` : (deps.provider.callUrl ?? null),
        dataChannel,
        ...(serverTools.length > 0 && { serverTools }),
      },
      // A visitor who continues a session was greeted before.
      agent: agentTermsOf(terms, deps.provider, context.resumed !== undefined),
      ...(context.resumed === undefined ? {} : { resumed: true as const }),
    };
    return undefined;
  },
};

function termsOf({ resumed, config }: CreateContext): SessionTerms {
  const terms = resumed ?? config;
  if (terms === undefined) throw new Error('no step of a create found what the session is');
  return terms;
}

/** Whether Switchboard itself adds words to the session's calls, and reads them. */
function converses({ callMode }: Pick<SessionTerms, 'callMode'>, { capabilities }: UpstreamProvider): boolean {
  return callMode === 'brokered' && capabilities.converses;
}

/** What a page has to know about the agent of a session. @param isGreeted whether the visitor was greeted already */
export function agentTermsOf(
  { callMode, behaviour }: Pick<SessionTerms, 'callMode' | 'behaviour'>,
  provider: UpstreamProvider,
  isGreeted: boolean,
): AgentTerms {
  const isHeard = converses({ callMode }, provider);
  const { greeting, turns, tellAi = true } = behaviour ?? {};
  const isGreeting = provider.capabilities.converses && greeting !== undefined;
  return {
    // The agent's own words are always transcribed; this is about the visitor's.
    captions: isHeard && transcriptionOf(behaviour ?? {}) !== undefined,
    greets: isGreeting && !isGreeted,
    push: turns?.detect === 'push' && provider.capabilities.converses,
    // Where the page opens the call, the page itself must ask for the greeting.
    tellAi: tellAi === 'greeting' ? !(isGreeting && isHeard) : tellAi,
  };
}
