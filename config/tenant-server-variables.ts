import * as s from './schemas.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) that says which servers tenants may name, and what seals their secrets. */
export const tenantServers = {
  'Servers of tenants': {
    sealingKeys: variable(
      'SEALING_KEY',
      s.sealingKeys,
      { unset: 'development: a random one kept in the database; production: no secrets can be kept' },
      'seals the secrets of tenants; comma-separated for rotation: the first seals, all open',
      { example: 'the output of: openssl rand -base64 32', secret: 'all' },
    ),
    outbound: {
      allowCidrs: variable(
        'OUTBOUND_ALLOW_CIDRS',
        s.networks,
        '',
        "comma-separated CIDRs of networks of one's own that servers of tenants may be in, also over http and at any port",
        { unset: 'the public internet alone', example: '10.20.0.0/16' },
      ),
      allowPorts: variable(
        'OUTBOUND_ALLOW_PORTS',
        s.ports,
        '',
        'comma-separated ports of servers of tenants in the public internet, beside 443',
        { unset: '443 alone', example: '8443' },
      ),
    },
  },
};
