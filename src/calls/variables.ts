import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** Who opens calls, how long they go on unheard, and how many there may be. */
export const calls = {
  mode: variable(
    'CALL_MODE',
    s.choice(['direct', 'brokered']),
    'direct',
    'who opens calls. brokered: Switchboard, which meters and ends them; direct: the page, so that ends and usage depend on its cooperation. The `call` of a key or an agent takes precedence',
    { unset: 'development: direct', example: 'brokered', production: true },
  ),
  sidebandReadyMs: variable(
    'SIDEBAND_READY_MS',
    s.integer(100, 60_000),
    '3000',
    'milliseconds allowed for the sideband of a new call to connect before the call is answered',
  ),
  /** Ends a call that nobody hears: `unheardEndMs` in machines/voice-call/selectors.ts; or can count: `guard` in voice-calls.ts. */
  unheardSec: variable(
    'SIDEBAND_LOST_SEC',
    s.integer(0, 3600),
    '20',
    'seconds that a call may continue while no node hears it; 0: until its session ends, charged by estimates',
  ),
  graceSec: variable(
    'CALL_GRACE_SEC',
    s.integer(0, 3600),
    '30',
    'seconds after the loss of a call within which another may follow before the session ends; longer while another page may resume it',
  ),
  perSession: variable(
    'CALLS_PER_SESSION',
    s.integer(1, 100),
    '10',
    'calls that one session may open: the first, one after each loss of network, and one for each page on which it continues',
  ),
  maxOpenResponses: variable(
    'MAX_OPEN_RESPONSES',
    s.integer(1, 32),
    '2',
    'simultaneous responses in one call whose page has a data channel; a further one is cut off as it begins',
  ),
  formerProviderDrain: variable(
    'FORMER_PROVIDER_DRAIN',
    s.choice(['refuse', 'ignore']),
    'refuse',
    'what happens at start if UPSTREAM_PROVIDER has changed while calls of the former provider are open: refuse, or ignore (nothing hears or ends them any more)',
  ),
};
