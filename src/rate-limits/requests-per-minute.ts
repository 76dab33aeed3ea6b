import type { ValuesOf } from '../../config/variable.ts';
import { mustWait, type Refusal } from '../protocol/refusal.ts';
import { unitOf, type Unit } from '../protocol/errors/error-row.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import type { requestRates } from './variables.ts';

/** One kind of edge window, a fixed minute (docs/contract.md, section 10.1). The store counts under `prefix` followed by who is counted. */
export interface EdgeWindow {
  readonly prefix: string;
  readonly perMinute: number;
  /** The variable that changes this limit. */
  readonly lever: string;
  /** What is counted. */
  readonly unit: Unit;
}

/** A window that counts an IPv6 network. */
export interface NetworkWindow extends EdgeWindow {
  /** Length of the network's prefix. */
  readonly bits: number;
}

/** All edge windows, except those that a single route adds. */
export interface EdgeWindows {
  /** Limit per address. */
  readonly address: EdgeWindow;
  /** Limit per console user, by e-mail address. */
  readonly user: EdgeWindow;
  /** Limit per operator; their requests do not count against their address. */
  readonly operator: EdgeWindow;
  /** Limit per address for everything outside the API: pages, files, descriptions. */
  readonly page: EdgeWindow;
  /** Limits per network around an IPv6 address, for login requests: the owner of a /48 has 65,536 networks of /64. */
  readonly networks: readonly NetworkWindow[];
  /** Limit per address on invalid service tokens. */
  readonly wrongTokens: EdgeWindow;
}

/** More than anyone mistypes in a minute, and far too few to guess a token. */
const WRONG_TOKENS_PER_MINUTE = 10;

/** A whole site (/48) may send this many times the requests of one address. */
const SITE_SHARE = 4;

/** The edge windows with the configured limits. */
export function edgeWindows(rates: ValuesOf<typeof requestRates>): EdgeWindows {
  return {
    address: windowOf('', rates.perIpPerMinute, 'RATE_IP_PER_MIN'),
    user: windowOf('user:', rates.perUserPerMinute, 'RATE_USER_PER_MIN'),
    operator: windowOf('operator:', rates.perOperatorPerMinute, 'RATE_OPERATOR_PER_MIN'),
    page: windowOf('page:', rates.perPagePerMinute, 'RATE_PAGE_PER_MIN'),
    networks: [
      // Providers give a customer a /56,
      { bits: 56, ...windowOf('network:56:', rates.perIpPerMinute, 'RATE_IP_PER_MIN') },
      // and an organization with several networks a /48.
      { bits: 48, ...windowOf('network:48:', SITE_SHARE * rates.perIpPerMinute, 'RATE_IP_PER_MIN') },
    ],
    wrongTokens: windowOf('token:', WRONG_TOKENS_PER_MINUTE, 'SERVICE_TOKENS', 'wrong service tokens'),
  };
}

/** An operator's window for routes that have a limit of their own, in addition to the one for all routes. */
export function operatorWindow({ name, perMinute }: { readonly name: string; readonly perMinute: number }): EdgeWindow {
  return windowOf(`operator:${name}:`, perMinute, 'RATE_OPERATOR_PER_MIN');
}

function windowOf(prefix: string, perMinute: number, lever: string, unit: Unit = 'requests'): EdgeWindow {
  return { prefix, perMinute, lever, unit };
}

/** The tighter of two windows, which is the one that a client should heed. */
export function tighter(a: WindowCount, b: WindowCount): WindowCount {
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  return b.remaining < a.remaining ? b : a;
}

/** The refusal when a window is used up. */
export function edgeRefusal({ perMinute, unit, lever }: EdgeWindow, { resetAtMs }: WindowCount, atMs: number): Refusal {
  const why = { layer: 'edge', limit: perMinute, unit, lever } as const;
  return mustWait(`More than ${perMinute} ${unitOf(perMinute, unit)} in a minute`, resetAtMs, atMs, why);
}
