import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ifAway } from '../kernel/errors.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import { MAX_KEY, MIN_CREATE_KEY } from '../protocol/idempotency.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Claim, Found, Replays } from '../stores/replays/contract.ts';
import { invalidFields } from './invalid-request.ts';
import type { HttpRequest } from './message.ts';
import type { Answer } from './route.ts';

const KEEP_MS = 10 * MINUTE_MS;
/** When a repeat first looks whether the first is done; then it waits twice as long each time, and at most a second. */
const FIRST_LOOK_MS = 50;
const MAX_LOOK_MS = 1000;
/** On top of a mint: what the stores take at most. Should this process die, its claim lapses then. */
const CLAIM_GRACE_MS = 10_000;
/** On top of a mint: a repeat is told to come again before its own reply is overdue. */
const WAIT_GRACE_MS = 2000;
const RETRY_SEC = 2;

export interface RepeatedCreateDeps {
  readonly replays: Replays;
  /** How long the provider may take. */
  readonly mintTimeoutMs: number;
  /** Lets time pass between two looks. */
  readonly pause?: ((ms: number) => Promise<unknown>) | undefined;
}

/**
 * Does the work once per Idempotency-Key, caller (`scope`) and 10 minutes; a repeat with the same body gets the same reply, also while the
 * first is still at it (docs/contract.md, section 5.2), for as long as its caller waits. While it waits it reads, less and less often, and
 * writes nothing. Refusals are not kept. Without the header it just does the work.
 * @throws Unavailable when the database is away.
 */
export async function oncePerKey(
  request: HttpRequest,
  scope: readonly string[],
  { replays, mintTimeoutMs, pause = delay }: RepeatedCreateDeps,
  work: () => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return work();
  if (!isKey(key, MIN_CREATE_KEY)) return badKey(MIN_CREATE_KEY);
  const keyHash = createHash('sha256')
    .update(JSON.stringify([...scope, key]))
    .digest('base64url');
  const bodyHash = createHash('sha256').update(request.body).digest('base64url');
  const signal = request.signal();
  let waitedMs = 0;
  const claim = () => replays.claim(keyHash, bodyHash, mintTimeoutMs + CLAIM_GRACE_MS, request.atMs + waitedMs);
  let found: Claim | Found = await claim();
  for (let waitMs = FIRST_LOOK_MS; found.kind === 'pending'; waitMs = Math.min(2 * waitMs, MAX_LOOK_MS)) {
    if (waitedMs > mintTimeoutMs + WAIT_GRACE_MS || signal.aborted) return unfinished();
    await pause(waitMs);
    waitedMs += waitMs;
    found = await replays.look(keyHash, bodyHash, request.atMs + waitedMs);
    if (found.kind === 'free') found = await claim();
  }
  if (found.kind === 'claimed') return claimed(keyHash, found.token, key, request.atMs, replays, work);
  if (found.kind === 'kept') return { status: 200, body: JSON.parse(unseal(found.sealed, key)) as object };
  return new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another body; use a new key.');
}

function unfinished(): Refusal {
  const message = 'The first request under this Idempotency-Key has not finished; try again shortly.';
  return new Refusal('SERVICE_UNAVAILABLE', message, { retryAfter: RETRY_SEC });
}

async function claimed(
  keyHash: string,
  token: string,
  key: string,
  atMs: number,
  replays: Replays,
  work: () => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  let result: Answer | Refusal | undefined;
  try {
    result = await work();
    return result;
  } finally {
    const kept =
      result === undefined || result instanceof Refusal
        ? replays.release(keyHash, token)
        : replays.keep(keyHash, token, seal(JSON.stringify(result.body), key), atMs + KEEP_MS);
    // The work is done or refused: that is what the caller must be told, whatever becomes of a repeat.
    await kept.catch(ifAway(() => undefined));
  }
}

/** Whether an Idempotency-Key has a length that is kept. */
export function isKey(key: string, minLength = 1): boolean {
  return key.length >= minLength && key.length <= MAX_KEY;
}

export function badKey(minLength = 1): Refusal {
  return invalidFields([{ path: 'Idempotency-Key', message: `must have ${minLength} to ${MAX_KEY} characters` }]);
}

/** A kept reply holds a client secret, so it is sealed under the caller's own key, of which the store has only a hash. */
function seal(text: string, key: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key, nonce), nonce);
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function unseal(sealed: Buffer, key: string): string {
  const nonce = sealed.subarray(0, 12);
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key, nonce), nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString('utf8');
}

function sealingKey(key: string, nonce: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, nonce, 'switchboard create reply', 32));
}
