import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Logins, LoginAddresses } from '../../src/stores/logins/contract.ts';
import { DAY_BEGIN, nodesOf, type Make } from './support.ts';

export function loginAddressesContract(name: string, make: Make<LoginAddresses>, makeLogins: Make<Logins>): void {
  describe(`addresses of logins, ${name}`, () => {
    const addresses = nodesOf(make);
    const logins = nodesOf(makeLogins);

    test('are unknown until a user logs in', async () => {
      const [subject, email] = [randomId(), `${randomId()}@example.com`];
      expect(await addresses().find(subject, email)).toEqual({ isKnown: false, liftedAtMs: null });
      await addresses().loggedIn(subject, DAY_BEGIN);
      await addresses().loggedIn(subject, DAY_BEGIN + 1);
      expect(await addresses().find(subject, email)).toEqual({ isKnown: true, liftedAtMs: null });
    });

    test('are known from an earlier login', async () => {
      const [subject, email] = [randomId(), `${randomId()}@example.com`];
      const times = { createdAtMs: DAY_BEGIN, renewedAtMs: DAY_BEGIN, expiresAtMs: DAY_BEGIN + 1 };
      const id = `auth_${randomId()}`;
      await logins().insert({ id, email, ...times, destroyedAtMs: null, destroyReason: null, version: 1 });
      expect(await addresses().find(subject, email)).toEqual({ isKnown: true, liftedAtMs: null });
    });

    test('can be lifted, known or not, and keep everything else that is known', async () => {
      const [subject, email] = [randomId(), `${randomId()}@example.com`];
      await addresses().lift(subject, DAY_BEGIN);
      expect(await addresses().find(subject, email)).toEqual({ isKnown: false, liftedAtMs: DAY_BEGIN });
      await addresses().loggedIn(subject, DAY_BEGIN + 1);
      await addresses().lift(subject, DAY_BEGIN + 2);
      expect(await addresses().find(subject, email)).toEqual({ isKnown: true, liftedAtMs: DAY_BEGIN + 2 });
    });
  });
}
