import { mustWait, type Refusal } from '../protocol/refusal.ts';
import { unitOf, type Unit } from '../protocol/refusal-why.ts';
import type { WindowCount } from '../stores/windows/contract.ts';

/** One kind of edge window, a fixed minute (docs/contract.md, section 10.1): the store counts in it under `prefix` and who is counted. */
export interface EdgeWindow {
  readonly prefix: string;
  readonly perMinute: number;
  /** The variable to look at. */
  readonly lever: string;
  /** What is counted. */
  readonly unit: Unit;
}

/** The window of an IPv6 network. */
export interface NetworkWindow extends EdgeWindow {
  /** How long its prefix is. */
  readonly bits: number;
}

/** How many requests a minute each window lets through. */
export interface EdgeRates {
  readonly perIpPerMinute: number;
  readonly perUserPerMinute: number;
  readonly perOperatorPerMinute: number;
  readonly perPagePerMinute: number;
}

/** All edge windows, but for those that a route has for itself. */
export interface EdgeWindows {
  /** Of an address. */
  readonly address: EdgeWindow;
  /** Of a console user, by e-mail address. */
  readonly user: EdgeWindow;
  /** Of one who operates, whose address is not counted. */
  readonly operator: EdgeWindow;
  /** Of an address, for what is not of the API: pages, files, descriptions. */
  readonly page: EdgeWindow;
  /** Of the networks around an IPv6 address, for requests of logins: whoever has a /48 has 65,536 addresses of /64. */
  readonly networks: readonly NetworkWindow[];
  /** Of an address, for service tokens that are none. */
  readonly wrongTokens: EdgeWindow;
}

/** More than anybody mistypes in a minute, and far too few to guess a token. */
const WRONG_TOKENS_PER_MINUTE = 10;

/** How many times as many requests as one address a whole site may send. */
const SITE_SHARE = 4;

/** The edge windows with the limits that are configured. */
export function edgeWindows(rates: EdgeRates): EdgeWindows {
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

/** The window of an operator for routes that have one of their own beside that of all. */
export function operatorWindow({ name, perMinute }: { readonly name: string; readonly perMinute: number }): EdgeWindow {
  return windowOf(`operator:${name}:`, perMinute, 'RATE_OPERATOR_PER_MIN');
}

function windowOf(prefix: string, perMinute: number, lever: string, unit: Unit = 'requests'): EdgeWindow {
  return { prefix, perMinute, lever, unit };
}

/** The tighter of two windows is the one that a client should heed. */
export function tighter(a: WindowCount, b: WindowCount): WindowCount {
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  return b.remaining < a.remaining ? b : a;
}

/** The refusal of a used-up window. */
export function edgeRefusal({ perMinute, unit, lever }: EdgeWindow, { resetAtMs }: WindowCount, atMs: number): Refusal {
  const why = { layer: 'edge', limit: perMinute, unit, lever } as const;
  return mustWait(`More than ${perMinute} ${unitOf(perMinute, unit)} in a minute`, resetAtMs, atMs, why);
}
