/** Lower-case words of letters and digits, at most 40 characters. */
export function words(text: string, joint: '_' | '-'): string {
  const joined = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, joint);
  const cut = joined.slice(0, 40);
  return cut.replaceAll(/^[_-]+|[_-]+$/g, '');
}

/**
 * Ids for new keys of a site that an operator can tell and guess: `acme-www`, then `acme-www-2`.
 * @param taken the ids that the tenant has, those of revoked keys among them
 */
export function freeIds(tenantId: string, site: string, count: number, taken: ReadonlySet<string>): string[] {
  const [owner, place] = [words(tenantId, '-'), words(site, '-')];
  const base = owner === '' || place === owner || place.startsWith(`${owner}-`) ? place : `${owner}-${place}`;
  const ids: string[] = [];
  for (let number = 1; ids.length < count; number += 1) {
    const id = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(id)) ids.push(id);
  }
  return ids;
}
