import { isIP, type BlockList } from 'node:net';

/** What an address may be, judged before its name is resolved. */
export interface UrlRule {
  /** Ports at which https is allowed, beside 443 (OUTBOUND_ALLOW_PORTS). */
  readonly ports: readonly number[];
  /**
   * Whether the installation has its own networks (OUTBOUND_ALLOW_CIDRS), with http and every port allowed; later checks see whether a name is in
   * one.
   */
  readonly hasOwnNetworks: boolean;
}

/** The rule of the settings OUTBOUND_ALLOW_PORTS and OUTBOUND_ALLOW_CIDRS. */
export function urlRuleOf(settings: {
  readonly allowPorts: readonly number[];
  readonly allowCidrs: BlockList;
}): UrlRule {
  return { ports: settings.allowPorts, hasOwnNetworks: settings.allowCidrs.rules.length > 0 };
}

/** Why Switchboard does not send to an address, in words that follow its name; undefined if it does. */
export function findUrlFault(text: string, rule: UrlRule): string | undefined {
  if (!URL.canParse(text)) return 'must be an address such as https://api.example.com/lookup';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://';
  if (url.username !== '' || url.password !== '') return 'must hold no user or password: use a header and a secret';
  if (isLiteral(url)) return 'must have a name, not an IP address';
  if (rule.hasOwnNetworks || isUsual(url, rule.ports)) return undefined;
  if (url.protocol === 'http:') return 'must start with https:// (http:// needs OUTBOUND_ALLOW_CIDRS)';
  return `has the port ${url.port}, which is not in OUTBOUND_ALLOW_PORTS`;
}

/** Whether the URL may be used for any public address: https, to a port that is allowed. */
export function isUsual(url: URL, ports: readonly number[]): boolean {
  return url.protocol === 'https:' && (url.port === '' || ports.includes(Number(url.port)));
}

/** By now the URL parser has rewritten decimal, octal and shortened forms as usual ones. */
function isLiteral({ hostname }: URL): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0;
}

/** Whether a text is an origin as browsers send it: scheme, host, and the port unless it is the scheme's default. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether cookies and login codes are safe in transit: over https, or on this machine. */
export function isSafeOrigin(publicUrl: string): boolean {
  return publicUrl.startsWith('https:') || isLoopback(publicUrl);
}

/** Whether an address means this machine. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

/** The network of an IPv6 address with a prefix of `bits`, at most 64; undefined for an IPv4 address. */
export function ipv6Network(address: string, bits: number): string | undefined {
  if (!address.includes(':')) return undefined;
  const [head = '', tail] = address.toLowerCase().split('%', 1)[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  const groups = [...left, ...zeros, ...right].slice(0, Math.ceil(bits / 16));
  const hidden = groups.length * 16 - bits;
  const named = groups.map((group, at) => {
    const value = Number.parseInt(group, 16);
    return (at === groups.length - 1 ? (value >> hidden) << hidden : value).toString(16);
  });
  return `${named.join(':')}::/${bits}`;
}
