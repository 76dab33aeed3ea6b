import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { classify } from '../../../machines/voice-session/selectors.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { mustWait, Refusal } from '../../protocol/refusal.ts';
import type { SessionSetup } from '../../stores/session-setups/contract.ts';
import type { ActResult } from '../../stores/journal/act-contract.ts';
import type { WhisperOutcome } from '../../calls/contract.ts';
import type { OperatorServices } from '../services.ts';
import { requireEngaged } from '../../sessions/require-engaged.ts';
import { act, type ActBy } from '../journal/acts.ts';
import { mayDo, type Operator } from '../roles.ts';
import { createHmac, hkdfSync } from 'node:crypto';

/** Whispers per session and minute, from all operators together. */
const PER_MINUTE = 10;
/** Wait before trying again where no answer came. */
const RETRY_SEC = 5;

/** The result of each outcome in the audit; without an answer it is unknown. */
const RESULTS: Readonly<Record<WhisperOutcome, ActResult | null>> = {
  told: 'done',
  not_open: 'unchanged',
  unanswered: null,
};

interface WhisperContext {
  readonly record: VoiceRecord;
  readonly atMs: number;
  readonly setup: SessionSetup | undefined;
  readonly calls: readonly CallRecord[];
}

/** Why an operator cannot whisper to the agent of a session; undefined where they can, as far as the stores know. */
export function whyNoWhisper(
  { record, atMs, setup, calls }: WhisperContext,
  { role }: Operator,
  { core, tenants, sessions }: Pick<OperatorServices, 'core' | 'tenants' | 'sessions'>,
): Refusal | undefined {
  if (!mayDo(role, 'change')) return new Refusal('FORBIDDEN', 'This role changes nothing.');
  if (role === 'tenant_admin' && tenants.tenant(record.tenantId)?.adminsMay?.includes('whisper') !== true)
    return new Refusal(
      'FORBIDDEN',
      `Only operators whisper to agents of this tenant, unless its adminsMay in TENANTS_FILE has "whisper".`,
    );
  if (classify(record, atMs, sessions.limits) === 'ended') return requireEngaged(record, atMs, sessions.limits);
  if (setup?.callMode !== 'brokered' || !core.provider.capabilities.converses)
    return conflict(
      'Nobody can put words into the calls of this session: its page opens them itself (call.mode direct), or its provider takes none.',
    );
  if (setup.dataChannel !== 'none')
    return conflict(
      'The page of this session has a data channel to the provider, which would show it the words; whisper where dataChannel is none.',
    );
  return calls.some(({ state }) => state === 'open') ? undefined : notOpen();
}

/**
 * Tells the agent of a session something that its page is not shown and that does not make it speak.
 * @returns why it was not told; undefined once it was
 * @throws Unavailable when the database is away: then the agent is told nothing
 */
export async function whisper(
  { record, atMs, setup, calls }: WhisperContext,
  text: string,
  { operator, by, services }: { readonly operator: Operator; readonly by: ActBy; readonly services: OperatorServices },
): Promise<Refusal | undefined> {
  const refused = whyNoWhisper({ record, atMs, setup, calls }, operator, services);
  if (refused !== undefined) return refused;
  const { allowed, resetAtMs } = await services.core.live.windows.take(`whisper:${record.id}`, PER_MINUTE, atMs);
  if (!allowed)
    return mustWait(`More than ${PER_MINUTE} whispers to a session in a minute`, resetAtMs, atMs, {
      layer: 'edge',
      limit: PER_MINUTE,
    });
  const target = refOf(record.id);
  const textHash = whisperHash(services.core.installationKey, target, by.atMs, text);
  const outcome = await act(
    { action: 'session.whisper', target, tenantId: record.tenantId, textHash },
    by,
    services,
    () => services.calls.whispers.send(record.id, text),
    (whispered) => RESULTS[whispered],
  );
  if (outcome === 'not_open') return notOpen();
  if (outcome === 'told') return undefined;
  return new Refusal(
    'SERVICE_UNAVAILABLE',
    'The process that holds the call did not answer: the agent may or may not have been told. Listen before you send it again.',
    { retryAfter: RETRY_SEC },
  );
}

function notOpen(): Refusal {
  return conflict('No call of this session is open and heard; send it again once one is open.');
}

function conflict(error: string): Refusal {
  return new Refusal('CONFLICT', error, {}, { fact: 'no call of the session takes a whisper' });
}

/**
 * What the audit keeps of a whisper's text (docs/contract.md, section 8). Whoever has the database can check whether a given text was whispered.
 * Readers of the audit cannot try out texts, because they lack the key, nor see which are equal, because time and session are part of the hash.
 * @param target the session's ref
 * @returns 32 hexadecimal digits
 */
export function whisperHash(installationKey: Buffer, target: string, atMs: number, text: string): string {
  const key = Buffer.from(hkdfSync('sha256', installationKey, '', 'switchboard whispers', 32));
  return createHmac('sha256', key).update(`${target} ${atMs} ${text}`).digest('hex').slice(0, 32);
}
