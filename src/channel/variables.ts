import { integer } from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** How many sockets and frames are admitted. */
export const socketLimits = {
  burst: variable(
    'RATE_BURST',
    integer(1, 1e6),
    '20',
    'frames that the WebSockets of one session may send in a burst; refilled at RATE_IP_PER_MIN a minute',
  ),
  maxSocketsPerIp: variable(
    'MAX_SOCKETS_PER_IP',
    integer(1, 1e6),
    '100',
    'open WebSockets per IP address, in each process; a session may have four, over all processes',
  ),
};
