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
