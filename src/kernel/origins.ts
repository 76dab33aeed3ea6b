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
