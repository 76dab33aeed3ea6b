import * as s from './schemas.ts';
import { variable } from './variable.ts';

/** The part of the table of variables (variables.ts) for the servers that tenants may name, and for sealing their secrets. */
export const tenantServers = {
  'Servers of tenants': {
    sealingKeys: variable(
      'SEALING_KEY',
      s.sealingKeys,
      { unset: 'development: a random one kept in the database; production: no secrets can be kept' },
      'encrypts the secrets of tenants; comma-separated for rotation: the first encrypts, all decrypt',
      { example: 'the output of: openssl rand -base64 32', secret: 'all' },
    ),
    outbound: {
      allowCidrs: variable(
        'OUTBOUND_ALLOW_CIDRS',
        s.networks,
        '',
        'comma-separated CIDRs of your own networks in which servers of tenants are allowed, also over http and on any port',
        { unset: 'the public internet alone', example: '10.20.0.0/16' },
      ),
      allowPorts: variable(
        'OUTBOUND_ALLOW_PORTS',
        s.ports,
        '',
        'comma-separated ports, besides 443, allowed for servers of tenants on the public internet',
        { unset: '443 alone', example: '8443' },
      ),
    },
  },
};
