import { setTimeout as delay } from 'node:timers/promises';
import { digestOf } from '../../kernel/ids.ts';
import { ifAway } from '../../kernel/errors.ts';
import { createSealer, type Sealer } from '../../kernel/seal.ts';
import { MIN_CREATE_KEY, refuseKey } from '../../protocol/idempotency-header.ts';
import type { CreateReply } from '../../protocol/create.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { KEEP_REPLY_MS, type Claim, type ReplyState } from '../../stores/idempotent-replies/contract.ts';
import {
  ANSWERED,
  type CallerFound,
  type CreateDeps,
  type CreateInput,
  type CreateStep,
  type Outcome,
  type ReplyClaim,
} from './step.ts';

/** When a repeat first checks whether the first request is done; it then waits twice as long each time, up to a second. */
const FIRST_LOOK_MS = 50;
const MAX_LOOK_MS = 1000;
/** Added to the time of a mint: the longest that the stores take. If this process dies, its claim lapses then. */
const CLAIM_GRACE_MS = 10_000;
/** Added to the time of a mint: after it a repeat is told to try again, before its own reply is overdue. */
const WAIT_GRACE_MS = 2000;
const RETRY_SEC = 2;

/**
 * Lets one create pass per Idempotency-Key, caller and 10 minutes; a repeat with the same body gets the same reply (docs/contract.md, section 5.2).
 * While the first request is still running, a repeat waits for as long as its caller does. Refusals are not kept. Without the header every create
 * passes.
 */
export const claimReply: CreateStep<ReplyClaim> = {
  name: 'once',
  take(context: CallerFound, deps) {
    const key = context.input.request.headers['idempotency-key'];
    if (key === undefined) return undefined;
    return refuseKey(key, MIN_CREATE_KEY) ?? claim(key, context, deps);
  },
  undo: ({ keyHash, token }, _, { stores }) =>
    stores.idempotentReplies.release(keyHash, token).catch(ifAway(() => undefined)),
};

/** Keeps the reply for repeats. The session is open, so the caller is told so even if the reply cannot be kept. */
export const keepReply: CreateStep = {
  name: 'keep the reply',
  async take({ claim, reply, input }, { stores }: Pick<CreateDeps, 'stores'>) {
    if (claim === undefined) return;
    const sealed = sealerOf(claim).seal(JSON.stringify(reply), claim.keyHash);
    const untilMs = input.request.atMs + KEEP_REPLY_MS;
    await stores.idempotentReplies.keep(claim.keyHash, claim.token, sealed, untilMs).catch(ifAway(() => undefined));
  },
};

async function claim(key: string, context: CallerFound, deps: CreateDeps): Promise<Outcome<ReplyClaim>> {
  const { input } = context;
  const keyHash = digestOf(JSON.stringify([...scopeOf(context), key]));
  const found = await waitForOther(keyHash, digestOf(input.request.body), input, deps);
  if (found instanceof Refusal) return found;
  if (found.kind === 'mismatch')
    return new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another body; use a new key.');
  if (found.kind === 'kept') {
    context.reply = JSON.parse(sealerOf({ key }).open(found.sealed, keyHash)) as CreateReply;
    return ANSWERED;
  }
  context.claim = { key, keyHash, token: found.token };
  return context.claim;
}

/** What a key belongs to: a stranger who has learned or guessed the key comes from elsewhere, and gets a session of their own. */
function scopeOf({ caller, input }: CallerFound): string[] {
  const by = caller.keyId ?? input.login?.email ?? '';
  return [caller.caller, caller.tenantId, by, input.origin ?? '', input.addressScope];
}

/** Claims the key, or waits for the request that has claimed it. While it waits it only reads, less and less often. */
async function waitForOther(
  keyHash: string,
  bodyHash: string,
  { request }: CreateInput,
  { stores: { idempotentReplies }, config, pause = delay }: Pick<CreateDeps, 'stores' | 'config' | 'pause'>,
): Promise<Exclude<Claim, { readonly kind: 'pending' }> | Refusal> {
  const { timeoutMs } = config.upstream;
  const signal = request.signal();
  let waitedMs = 0;
  const claim = () => idempotentReplies.claim(keyHash, bodyHash, timeoutMs + CLAIM_GRACE_MS, request.atMs + waitedMs);
  let found: Claim | ReplyState = await claim();
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(2 * waitMs, MAX_LOOK_MS)) {
    if (found.kind === 'free') found = await claim();
    if (found.kind !== 'pending') return found;
    if (waitedMs > timeoutMs + WAIT_GRACE_MS || signal.aborted) return unfinished();
    await pause(waitMs);
    waitedMs += waitMs;
    found = await idempotentReplies.look(keyHash, bodyHash, request.atMs + waitedMs);
  }
}

function unfinished(): Refusal {
  const message = 'The first request under this Idempotency-Key has not finished; try again shortly.';
  return new Refusal('SERVICE_UNAVAILABLE', message, { retryAfter: RETRY_SEC });
}

/** A kept reply holds a client secret, so it is sealed under the caller's own key, of which the store has only a hash. */
function sealerOf({ key }: Pick<ReplyClaim, 'key'>): Sealer {
  return createSealer([Buffer.from(key)], 'switchboard create reply');
}
