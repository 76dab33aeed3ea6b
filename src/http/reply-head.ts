export type Header = readonly [name: string, value: string];

export const noStore: Header = ['Cache-Control', 'no-store'];

/**
 * Sees that no cache keeps a reply that sets a cookie, whoever wrote the cookie and whatever the route says of caching: a kept login
 * would be given to everybody. Changes the list; every head passes here last.
 */
export function keepPrivate(headers: Header[]): void {
  if (!headers.some(setsCookie)) return;
  for (let at = headers.length - 1; at >= 0; at -= 1)
    if (headers[at]?.[0].toLowerCase() === 'cache-control') headers.splice(at, 1);
  headers.push(noStore);
}

/** Looks at the length first, because this runs for every header of every reply. */
function setsCookie([name]: Header): boolean {
  return name.length === 10 && name.toLowerCase() === 'set-cookie';
}
