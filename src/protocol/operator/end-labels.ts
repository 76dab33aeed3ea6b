import type { EndReason } from '../../../machines/voice-session/end-reasons.ts';

/** Short labels for why a session ended, for operators. What end users read is in the files of the languages. */
export const END_LABELS: Readonly<Record<EndReason, string>> = {
  duration_exceeded: 'maximum length',
  idle_exceeded: 'quiet for too long',
  quota_exceeded: 'quota of the day',
  closed_by_client: 'closed by client',
  closed_by_operator: 'ended by operator',
  closed_by_tool: 'ended by tool',
  key_revoked: 'key revoked',
  upstream_ended: 'ended by provider',
  create_failed: 'create failed',
  abandoned: 'given up as stale',
};
