import { randomBytes } from 'node:crypto';

/** 22 characters of base64url: 128 random bits, unguessable. */
export function randomId(): string {
  return randomBytes(16).toString('base64url');
}

/**
 * The `ref` of a voice session: the beginning of its sm_session_id, enough to find the session and too little to use it. The whole id
 * is its caller's proof, so logs, the audit and pages hold the ref.
 */
export function refOf(sessionId: string): string {
  return sessionId.slice(0, 42);
}
