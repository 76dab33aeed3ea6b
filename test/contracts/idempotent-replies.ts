import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Claim, IdempotentReplies } from '../../src/stores/idempotent-replies/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

const CLAIM_MS = 10_000;
const sealed = Buffer.from([0, 1, 2, 255]);

export function idempotentRepliesContract(name: string, make: Make<IdempotentReplies>): void {
  describe(`kept replies, ${name}`, () => {
    const idempotentReplies = nodesOf(make);
    const claim = (key: string, body = 'body', atMs = DAY_BEGIN) =>
      idempotentReplies().claim(key, body, CLAIM_MS, atMs);

    async function claimed(key: string, atMs = DAY_BEGIN): Promise<string> {
      const answer = await claim(key, 'body', atMs);
      return tokenOf(answer);
    }

    test('the first request claims the key, others wait, and all get the reply that is kept', async () => {
      const key = randomId();
      const token = await claimed(key);
      expect(await claim(key)).toEqual({ kind: 'pending' });
      await idempotentReplies().keep(key, token, sealed, DAY_BEGIN + 60_000);
      expect(await claim(key, 'body', DAY_BEGIN + CLAIM_MS + 1)).toEqual({ kind: 'kept', sealed });
    });

    test('a look says what is there and claims nothing', async () => {
      const key = randomId();
      const look = (atMs = DAY_BEGIN, body = 'body') => idempotentReplies().look(key, body, atMs);
      expect([await look(), await look()]).toEqual([{ kind: 'free' }, { kind: 'free' }]);
      const token = await claimed(key);
      expect(await look()).toEqual({ kind: 'pending' });
      expect(await look(DAY_BEGIN + CLAIM_MS)).toEqual({ kind: 'free' });
      await idempotentReplies().keep(key, token, sealed, DAY_BEGIN + 60_000);
      expect([await look(), await look(DAY_BEGIN, 'other')]).toEqual([{ kind: 'kept', sealed }, { kind: 'mismatch' }]);
      expect(await look(DAY_BEGIN + 60_000)).toEqual({ kind: 'free' });
    });

    test('a request with another body is recognized, during the work and after it', async () => {
      const key = randomId();
      const token = await claimed(key);
      expect(await claim(key, 'other')).toEqual({ kind: 'mismatch' });
      await idempotentReplies().keep(key, token, sealed, DAY_BEGIN + 60_000);
      expect(await claim(key, 'other')).toEqual({ kind: 'mismatch' });
    });

    test('of 64 concurrent claims one is granted', async () => {
      const key = randomId();
      const answers = await atOnce(RACERS, () => claim(key));
      expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
      expect(answers.filter(({ kind }) => kind === 'pending')).toHaveLength(RACERS - 1);
    });

    test('a claim whose node died lapses: one of 64 takes it over, with any body', async () => {
      const key = randomId();
      await claimed(key);
      const before = DAY_BEGIN + CLAIM_MS - 1;
      expect(await claim(key, 'body', before)).toEqual({ kind: 'pending' });
      const answers = await atOnce(RACERS, () => claim(key, 'other', before + 1));
      expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    });

    test('a request that lost its claim can neither keep a reply nor release the key', async () => {
      const key = randomId();
      const lost = await claimed(key);
      const token = await claimed(key, DAY_BEGIN + CLAIM_MS);
      await idempotentReplies().keep(key, lost, sealed, DAY_BEGIN + 60_000);
      await idempotentReplies().release(key, lost);
      expect(await claim(key, 'body', DAY_BEGIN + CLAIM_MS)).toEqual({ kind: 'pending' });
      await idempotentReplies().keep(key, token, Buffer.from('mine'), DAY_BEGIN + 60_000);
      expect(await claim(key)).toEqual({ kind: 'kept', sealed: Buffer.from('mine') });
    });

    test('a released claim is free at once; a kept reply is not released', async () => {
      const key = randomId();
      await idempotentReplies().release(key, await claimed(key));
      const token = await claimed(key);
      await idempotentReplies().keep(key, token, sealed, DAY_BEGIN + 60_000);
      await idempotentReplies().release(key, token);
      expect(await claim(key)).toEqual({ kind: 'kept', sealed });
    });

    test('a reply is kept until it expires; then the key is free for any body', async () => {
      const key = randomId();
      await idempotentReplies().keep(key, await claimed(key), sealed, DAY_BEGIN + 60_000);
      expect(await claim(key, 'body', DAY_BEGIN + 59_999)).toMatchObject({ kind: 'kept' });
      expect(await claim(key, 'other', DAY_BEGIN + 60_000)).toMatchObject({ kind: 'claimed' });
      expect(await claim(key, 'other', DAY_BEGIN + 60_000)).toEqual({ kind: 'pending' });
    });
  });
}

function tokenOf(claim: Claim): string {
  if (claim.kind !== 'claimed') throw new Error(`the key is ${claim.kind}`);
  return claim.token;
}
