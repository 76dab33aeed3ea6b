/** True for scheme, host and, where not the scheme's own, port: as browsers send it. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** True if a cookie and a login code are safe in transit: https, or this machine. */
export function isSafeOrigin(publicUrl: string): boolean {
  return publicUrl.startsWith('https:') || isLoopback(publicUrl);
}

/** True for an address that means the machine itself. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}
