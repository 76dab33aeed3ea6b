/** Ends in few words, for lists. One that is not known yet is shown by its name. */
const REASONS: Readonly<Record<string, string>> = {
  duration_exceeded: 'maximum length',
  idle_exceeded: 'quiet for too long',
  quota_exceeded: 'quota of the day',
  closed_by_client: 'closed by client',
  closed_by_operator: 'ended by operator',
  key_revoked: 'key revoked',
  upstream_ended: 'ended by provider',
  create_failed: 'create failed',
  abandoned: 'given up as stale',
};

export const REASON_NAMES = Object.keys(REASONS);

export function reasonWords(reason: string | null): string {
  return reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '));
}
