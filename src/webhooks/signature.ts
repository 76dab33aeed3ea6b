import { createHmac } from 'node:crypto';

/**
 * The headers that tell a receiver who sent a body and when, according to Standard Webhooks 1.0.
 * @param id identifies the event; it is the same whenever the event is sent again
 * @param secrets `whsec_…`: each adds a signature
 */
export function signedHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  atMs: number,
): Readonly<Record<'content-type' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const seconds = Math.floor(atMs / 1000);
  const signed = `${id}.${seconds}.${body}`;
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(signed, secret)}`).join(' '),
  };
}

function signatureOf(text: string, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
