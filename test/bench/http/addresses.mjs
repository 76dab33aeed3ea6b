// The number of client addresses that a server sees: what it remembers of the last address only helps when all requests come from one.
import { WrongOption } from '../support/options.mjs';

const CLIENTS = 4096;

/** `load`: options of the load; `environment` of the product; `requestsOf`: replaces the requests that are sent. */
const ways = {
  one: { told: 'from one address' },
  many: { told: 'each connection from an address of its own', load: { ownAddresses: true } },
  forwarded: {
    told: `behind a proxy, for ${CLIENTS} clients in turn`,
    environment: { TRUST_PROXY: '127.0.0.1/32' },
    requestsOf: (requests) => Array.from({ length: CLIENTS }, (_, n) => forwarded(requests[n % requests.length], n)),
  },
};

export const ADDRESSES_USAGE = `  --addresses <ways> comma-separated, with tables for each: one; many: each connection has an address of its own;
                     forwarded: a proxy's X-Forwarded-For names another client in each request (one)`;

function forwarded(request, n) {
  return request.replace('\r\n\r\n', `\r\nX-Forwarded-For: 10.1.${n >> 8}.${n & 255}\r\n\r\n`);
}

/** @returns the ways that `--addresses` names. @throws WrongOption */
export function toWays(text) {
  return text.split(',').map((name) => {
    if (!Object.hasOwn(ways, name))
      throw new WrongOption(`--addresses ${name} is none of: ${Object.keys(ways).join(', ')}`);
    return { load: {}, environment: {}, requestsOf: (requests) => requests, ...ways[name] };
  });
}
