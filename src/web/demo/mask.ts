/**
 * A session id opens the session, a client secret opens a call, and a resume token goes on with the session: none belongs on a screen that
 * is shared. Not every provider's secrets have a form of their own, but all are in one place of a reply.
 */
export function mask(text: string): string {
  return text
    .replaceAll(/\b(s:[0-9a-f]{4})[0-9a-f]+:[\w-]+/g, '$1…:••••')
    .replaceAll(/\bek_(local_)?[\w-]+/g, 'ek_$1••••')
    .replaceAll(/\brs_[\w-]{43}/g, 'rs_••••')
    .replaceAll(/("client_secret":\s*\{[^}]*?"value":\s*")(?!ek_)[^"]*/g, '$1••••');
}
