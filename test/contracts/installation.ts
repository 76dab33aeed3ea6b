import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Installation } from '../../src/stores/installation/contract.ts';
import { atOnce, nodesOf, RACERS, type Make } from './support.ts';

export function installationContract(name: string, make: Make<Installation>): void {
  describe(`installation secrets, ${name}`, () => {
    const installation = nodesOf(make);

    test('a secret has 32 bytes and is the same for all nodes that race for it, then and later', async () => {
      const name = randomId();
      const secrets = await atOnce(RACERS, () => installation().secret(name));
      expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1);
      expect(await installation().secret(name)).toEqual(secrets[0]);
      expect(secrets[0]).toHaveLength(32);
    });

    test('many nodes can test concurrently and repeatedly whether it takes writes', async () => {
      await atOnce(RACERS, () => installation().tryWrite());
      await installation().tryWrite();
    });

    test('another name gives another secret', async () => {
      const [one, two] = await Promise.all([installation().secret(randomId()), installation().secret(randomId())]);
      expect(one.equals(two)).toBe(false);
    });
  });
}
