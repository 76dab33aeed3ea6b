import type { SessionView } from '../protocol/session.ts';
import type { Usage } from '../protocol/usage.ts';

/** Values that the examples of the interface description share. */
export const sample = {
  sm_session_id: 's:7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4:kX2vQ9mB4tYw7nLcR1sZ0A',
  email: 'ada@example.com',
  requestId: 'req_AMumvXlM6',
  session: {
    active: true,
    startedAt: '2030-01-01T12:00:00.000Z',
    lastSeenAt: '2030-01-01T12:01:30.000Z',
    durationSec: 90,
    idleSec: 0,
  } satisfies SessionView,
  usage: {
    tokens: 1200,
    dollars: 0.02,
    dailyTokenLimit: 300_000,
    dailyDollarLimit: 20,
    resetAt: '2030-01-02T00:00:00.000Z',
  } satisfies Usage,
} as const;
