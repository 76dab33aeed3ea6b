import type { AuthSessions, OpenedAuthSession } from '../../src/auth/auth-sessions.ts';
import { Refusal } from '../../src/protocol/refusal.ts';
import type { Logins } from '../../src/stores/logins/contract.ts';

/** Logs an address in without a code. */
export async function openLogin(
  sessions: AuthSessions,
  logins: Logins,
  email: string,
  atMs: number,
): Promise<OpenedAuthSession> {
  const opened = await sessions.open(email, atMs, async (login) => {
    await logins.insert(login);
    return true;
  });
  if (opened instanceof Refusal) throw new Error(opened.error);
  return opened;
}
