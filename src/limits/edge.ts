import { mustWait, type Refusal } from '../protocol/refusal.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { WindowCount, Windows } from '../stores/windows/contract.ts';

/** The state of one edge window after a request was counted. */
export interface EdgeCount extends WindowCount {
  readonly limit: number;
  /** What is counted there, in the words of a refusal. */
  readonly what?: string;
  /** The variable that sets the limit, where it is not the one of the address. */
  readonly lever?: string;
}

/** How many requests a minute each window lets through. */
export interface EdgeRates {
  readonly perIpPerMinute: number;
  readonly perUserPerMinute: number;
  readonly perOperatorPerMinute: number;
  readonly perPagePerMinute: number;
}

/**
 * Edge rate limits (docs/contract.md, section 10.1), each a fixed window of a minute: of an address, of a console user, of an operator, of an address
 * for pages, and of an address for wrong service tokens.
 */
export interface EdgeLimits {
  byAddress(scope: string, atMs: number): Eventually<WindowCount>;
  /** Counts without waiting; see `Windows.takeAtOnce`. */
  byAddressAtOnce(scope: string, atMs: number): WindowCount;
  byUser(email: string, atMs: number): Eventually<WindowCount>;
  /** Counts a request to the operator API of one who operates; the addresses of operators are not counted. */
  byOperator(actor: string, atMs: number): Eventually<WindowCount>;
  /** Counts a request of an operator to routes that have a window of their own beside that. */
  byOperatorAt(
    actor: string,
    rate: { readonly name: string; readonly perMinute: number },
    atMs: number,
  ): Eventually<WindowCount>;
  /** Counts what is not of the API: pages, files, descriptions. Without waiting, so that they are served whatever is away. */
  pageByAddress(scope: string, atMs: number): EdgeCount;
  /** What is known of the service tokens that an address sent and that are none; it counts nothing. */
  wrongTokens(scope: string, atMs: number): EdgeCount;
  noteWrongToken(scope: string, atMs: number): void;
  readonly perAddress: number;
  readonly perUser: number;
  readonly perOperator: number;
}

/** Nobody mistypes a token this often in a minute; a guess in six seconds is none that finds one. */
const WRONG_TOKENS_PER_MINUTE = 10;

/** The edge limits over the windows of a store: to count and to tell what is left is one step. */
export function createEdgeLimits(windows: Windows, rates: EdgeRates): EdgeLimits {
  const {
    perIpPerMinute: perAddress,
    perUserPerMinute: perUser,
    perOperatorPerMinute: perOperator,
    perPagePerMinute: perPage,
  } = rates;
  return {
    perAddress,
    perUser,
    perOperator,
    byAddress: (scope, atMs) => windows.take(scope, perAddress, atMs),
    byAddressAtOnce: (scope, atMs) => windows.takeAtOnce(scope, perAddress, atMs),
    byUser: (email, atMs) => windows.take(`user:${email}`, perUser, atMs),
    byOperator: (actor, atMs) => windows.take(`operator:${actor}`, perOperator, atMs),
    byOperatorAt: (actor, { name, perMinute }, atMs) => windows.take(`operator:${name}:${actor}`, perMinute, atMs),
    pageByAddress: (scope, atMs) => ({
      ...withLimit(windows.takeAtOnce(`page:${scope}`, perPage, atMs), perPage),
      lever: 'RATE_PAGE_PER_MIN',
    }),
    wrongTokens: (scope, atMs) => ({
      ...withLimit(windows.known(`token:${scope}`, WRONG_TOKENS_PER_MINUTE, atMs), WRONG_TOKENS_PER_MINUTE),
      what: 'wrong service tokens',
      lever: 'SERVICE_TOKENS',
    }),
    noteWrongToken: (scope, atMs) => void windows.takeAtOnce(`token:${scope}`, WRONG_TOKENS_PER_MINUTE, atMs),
  };
}

/** The scope of the per-IP window: an IPv4 address, or the /64 of an IPv6 one (docs/contract.md, section 10.1). */
export function addressScope(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, 4);
  return `${groups.map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`;
}

/** Names the fields, because this runs for every request and a spread costs several times as much. */
export function withLimit({ allowed, remaining, resetAtMs }: WindowCount, limit: number): EdgeCount {
  return { allowed, remaining, resetAtMs, limit };
}

/** The tighter of two windows is the one that a client should heed. */
export function tighter(a: EdgeCount, b: EdgeCount): EdgeCount {
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  return b.remaining < a.remaining ? b : a;
}

/** The refusal of a used-up window. */
export function edgeRefusal(
  { limit, what = 'requests', lever = 'RATE_IP_PER_MIN', resetAtMs }: EdgeCount,
  atMs: number,
): Refusal {
  const why = { layer: 'edge', limit, unit: 'requests', lever } as const;
  return mustWait(`More than ${limit} ${what} in a minute`, resetAtMs, atMs, why);
}
