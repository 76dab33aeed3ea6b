import { z } from 'zod';
import type { VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { viewOf } from '../../voice/view.ts';
import { liveSession, sample } from '../schemas.ts';

export const state = z.enum(['engaged', 'idle', 'stale', 'ended']);

/** A session as lists show it to operators. */
export const listed = z
  .object({
    id: z.string(),
    ref: z
      .string()
      .meta({ description: 'The first 42 characters of the id, as the log has them: names it, and proves nothing' }),
    state,
    caller: z.enum(['widget', 'console']),
    emailHash: z.string(),
    tenantId: z.string(),
    agentId: z.string().nullable(),
    keyId: z.string().nullable(),
    provider: z.string(),
    upstreamId: z.string(),
    endedAt: z.iso.datetime().nullable(),
    endReason: z.string().nullable(),
    session: liveSession,
  })
  .meta({ id: 'OperatorSession' });

/** A session by itself: what a list shows, and more. */
export const detailed = listed.extend({
  nextDeadline: z.iso.datetime().nullable(),
  endedBy: z
    .object({
      actor: z.string().meta({ description: "An operator's e-mail address, or `service`" }),
      reason: z.string().nullable(),
      at: z.iso.datetime(),
      requestId: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'Who ended it, where an operator did' }),
});

export const exampleSession: z.infer<typeof listed> = {
  id: sample.sm_session_id,
  ref: refOf(sample.sm_session_id),
  state: 'engaged',
  caller: 'widget',
  emailHash: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4',
  tenantId: 'acme',
  agentId: 'support',
  keyId: 'site',
  provider: 'openai',
  upstreamId: 'sess_C9CwUVUzUzYIssh3ELY1d',
  endedAt: null,
  endReason: null,
  session: sample.session,
};

/** How operators see a record that is in a state. */
export function describe(record: VoiceRecord, state: VoiceState, at: number): z.infer<typeof listed> {
  const {
    id,
    caller,
    subject: emailHash,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAtMs,
    endReason,
  } = record;
  const endedAt = endedAtMs === null ? null : new Date(endedAtMs).toISOString();
  return {
    id,
    ref: refOf(id),
    state,
    caller,
    emailHash,
    tenantId,
    agentId,
    keyId,
    provider,
    upstreamId,
    endedAt,
    endReason,
    session: viewOf(record, at),
  };
}
