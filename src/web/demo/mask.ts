/**
 * Hides what must not appear on a shared screen: a session id opens the session, a client secret opens a call, and a resume token continues
 * the session. Not every provider's secrets have a recognizable form, but all are in the same place of a reply.
 */
export function mask(text: string): string {
  return text
    .replaceAll(/\b(s:[0-9a-f]{4})[0-9a-f]+:[\w-]+/g, '$1…:••••')
    .replaceAll(/\bek_(local_)?[\w-]+/g, 'ek_$1••••')
    .replaceAll(/\brs_[\w-]{43}/g, 'rs_••••')
    .replaceAll(/("client_secret":\s*\{[^}]*?"value":\s*")(?!ek_)[^"]*/g, '$1••••');
}
