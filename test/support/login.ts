import type { ConsoleLogins, OpenedLogin } from '../../src/auth/console-logins.ts';
import { Refusal } from '../../src/protocol/refusal.ts';
import type { Logins } from '../../src/stores/logins/contract.ts';

/** Logs an address in without a code. */
export async function openLogin(
  sessions: ConsoleLogins,
  logins: Logins,
  email: string,
  atMs: number,
): Promise<OpenedLogin> {
  const opened = await sessions.open(email, atMs, async (login) => {
    await logins.insert(login);
    return true;
  });
  if (opened instanceof Refusal) throw new Error(opened.error);
  return opened;
}
