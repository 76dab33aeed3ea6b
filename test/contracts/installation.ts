import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Installation } from '../../src/stores/installation/contract.ts';
import { atOnce, nodesOf, RACERS, type Make } from './support.ts';

export function installationContract(name: string, make: Make<Installation>): void {
  describe(`installation secrets, ${name}`, () => {
    const installation = nodesOf(make);

    test('a secret is 32 bytes, the same for all who race for it and ever after', async () => {
      const name = randomId();
      const secrets = await atOnce(RACERS, () => installation().secret(name));
      expect(new Set(secrets.map((secret) => secret.toString('hex'))).size).toBe(1);
      expect(await installation().secret(name)).toEqual(secrets[0]);
      expect(secrets[0]).toHaveLength(32);
    });

    test('it is tried whether it takes writes, by many at once and again and again', async () => {
      await atOnce(RACERS, () => installation().tryWrite());
      await installation().tryWrite();
    });

    test('another name is another secret', async () => {
      const [one, two] = await Promise.all([installation().secret(randomId()), installation().secret(randomId())]);
      expect(one.equals(two)).toBe(false);
    });
  });
}
