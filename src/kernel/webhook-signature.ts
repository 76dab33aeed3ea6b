import { createHmac } from 'node:crypto';

/**
 * The headers by which a receiver knows who sent it a body and when, as Standard Webhooks 1.0 says.
 * @param id names what is told, and is the same whenever it is told again
 * @param secrets `whsec_…`: each signs
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
