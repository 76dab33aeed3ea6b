import { integer } from './schemas.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) for how long a session may live, idle and be silent. */
export const sessionTimes = {
  'Voice sessions': {
    voice: {
      maxMinutes: variable('MAX_SESSION_MINUTES', integer(1, 1440), '15', 'longest duration of a session, in minutes'),
      maxIdleSec: variable(
        'MAX_SESSION_IDLE_SEC',
        integer(1, 86_400),
        '300',
        'seconds without activity after which a session is idle',
      ),
      staleGraceSec: variable(
        'STALE_GRACE_SEC',
        integer(1, 604_800),
        '3600',
        'seconds without activity after which a session is stale',
      ),
      staleReapSec: variable(
        'STALE_REAP_SEC',
        integer(0, 604_800),
        '3600',
        'seconds that a stale session stays visible before it is closed as abandoned',
      ),
    },
    heartbeatIntervalSec: variable(
      'HEARTBEAT_INTERVAL_SEC',
      integer(1, 3600),
      '45',
      'seconds between heartbeats; clients get it in the reply to a create',
    ),
  },
};
