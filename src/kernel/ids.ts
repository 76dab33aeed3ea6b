import { randomBytes } from 'node:crypto';

/** 22 characters of base64url: 128 random bits, unguessable. */
export function randomId(): string {
  return randomBytes(16).toString('base64url');
}

const processPrefix = randomBytes(6).toString('base64url');
let requests = 0;

/** A request id that is unique over nodes and restarts and costs no randomness per request. */
export function nextRequestId(): string {
  requests += 1;
  return `req_${processPrefix}${requests.toString(36)}`;
}
