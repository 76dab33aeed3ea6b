import { z } from 'zod';
import type { VoiceRecord } from '../../../../machines/voice-session/types.ts';
import { seesTenant } from '../../../auth/operators.ts';
import { Refusal, sessionNotFound } from '../../../protocol/refusal.ts';
import type { VoiceHistory } from '../../../stores/voice-history/contract.ts';
import { idOfNamed } from '../../../voice/find-sessions.ts';
import type { VoiceSessions } from '../../../voice/sessions.ts';
import { readQuery } from '../../query.ts';
import type { Call, Result } from '../../route.ts';
import { sample } from '../../samples.ts';

export const TAG = 'Operators';
export const alwaysRefused = ['AUTH_REQUIRED', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED', 'SERVICE_UNAVAILABLE'] as const;
export const NAMED =
  'By the id of the session, or by its ref, its first 42 characters; what several have is AMBIGUOUS.';

export const sessionParams = z.object({
  id: z.string().meta({ description: 'sm_session_id or ref, percent-encoded', examples: [sample.sm_session_id] }),
});

export const noParameters = z.object({});

export interface NamedDeps {
  readonly sessions: VoiceSessions;
  readonly history: VoiceHistory;
}

/** Runs the work when the query is right. A parameter that is not known is refused: a filter that is ignored shows too much. */
export async function withQuery<S extends z.ZodObject>(
  { request }: Call,
  parameters: S,
  work: (query: z.output<S>) => Promise<Result>,
): Promise<Result> {
  const query = readQuery(request.query, parameters);
  return query instanceof Refusal ? query : work(query);
}

/** The session that the path of a request names by its id or ref; one of a tenant that the operator is not shown is not there. */
export async function findNamed(call: Call, { sessions, history }: NamedDeps): Promise<VoiceRecord | Refusal> {
  const id = await idOfNamed(call.params[0] ?? '', history);
  if (id instanceof Refusal) return id;
  const record = await sessions.find(id);
  return record !== undefined && seesTenant(call.operator, record.tenantId) ? record : sessionNotFound();
}

/** Runs the work on the session that the path of a request names, where the request brings no parameters. */
export function ofNamed(call: Call, deps: NamedDeps, work: (record: VoiceRecord) => Promise<Result>): Promise<Result> {
  return withQuery(call, noParameters, async () => {
    const record = await findNamed(call, deps);
    return record instanceof Refusal ? record : work(record);
  });
}
