import { integer } from './schemas.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) for requests a minute, frames and sockets. */
export const rateLimits = {
  'Rate limits': {
    edge: {
      perIpPerMinute: variable('RATE_IP_PER_MIN', integer(1, 1e9), '60', 'requests a minute per IP address'),
      perUserPerMinute: variable('RATE_USER_PER_MIN', integer(1, 1e9), '120', 'requests a minute per console user'),
      perOperatorPerMinute: variable(
        'RATE_OPERATOR_PER_MIN',
        integer(1, 1e9),
        '600',
        'requests a minute to the operator API per operator, viewer, admin of a tenant or service token',
      ),
      perPagePerMinute: variable(
        'RATE_PAGE_PER_MIN',
        integer(1, 1e9),
        '600',
        'requests a minute per IP address outside the API: pages, files, interface descriptions',
      ),
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
    },
  },
};
