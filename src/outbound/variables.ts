import { z } from 'zod';
import * as s from '../../config/schemas.ts';
import { variable } from '../../config/variable.ts';

/** A comma-separated list of TCP ports: something is allowed at these ports only. */
const ports: z.ZodType<number[], string> = s.list.transform((entries, context) => {
  const found = z.array(s.integer(1, 65_535)).safeParse(entries);
  if (found.success) return found.data;
  context.addIssue({ code: 'custom', message: 'each must be a whole number from 1 to 65535' });
  return [];
});

/** Which servers tenants may name. */
export const outbound = {
  allowCidrs: variable(
    'OUTBOUND_ALLOW_CIDRS',
    s.networks,
    '',
    'comma-separated CIDRs of your own networks in which servers of tenants are allowed, also over http and on any port',
    { unset: 'the public internet alone', example: '10.20.0.0/16' },
  ),
  allowPorts: variable(
    'OUTBOUND_ALLOW_PORTS',
    ports,
    '',
    'comma-separated ports, besides 443, allowed for servers of tenants on the public internet',
    { unset: '443 alone', example: '8443' },
  ),
};
