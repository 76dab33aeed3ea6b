import { randomBytes } from 'node:crypto';

/** An upstream session id of our own, for providers that give none: `sess_` and 24 characters. */
export function makeUpstreamSessionId(): string {
  return `sess_${randomBytes(18).toString('base64url')}`;
}
