import { integer } from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** How many requests a minute are admitted. */
export const requestRates = {
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
};
