/**
 * True when a list of addresses, `@domain` entries and `*` (everybody) holds the address. `@example.com` does not admit
 * subdomains: whoever controls mail.example.com need not be of example.com.
 * @param email trimmed and lower-cased
 */
export function matchesEmail(patterns: readonly string[], email: string): boolean {
  const domain = email.slice(email.lastIndexOf('@'));
  return patterns.some((pattern) => pattern === '*' || pattern === email || pattern === domain);
}
