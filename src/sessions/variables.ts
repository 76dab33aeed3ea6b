import { boolean, integer } from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** How long a session may live, idle and be silent; the deadlines that follow are in machines/voice-session/selectors.ts. */
export const voice = {
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
};

export const heartbeatIntervalSec = variable(
  'HEARTBEAT_INTERVAL_SEC',
  integer(1, 3600),
  '45',
  'seconds between heartbeats; clients get it in the reply to a create',
);

/** What a create needs besides its tenant. */
export const sessionRequirements = {
  requireAuthForSession: variable(
    'REQUIRE_AUTH_FOR_SESSION',
    boolean,
    'false',
    'true: every session needs a console login',
  ),
  requireOriginForWidgets: variable(
    'REQUIRE_ORIGIN_FOR_WIDGETS',
    boolean,
    'true',
    'true: a widget request without an Origin header gets ORIGIN_MISMATCH',
  ),
};
