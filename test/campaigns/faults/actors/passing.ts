import type { Caller } from '../caller.ts';
import type { Operator } from '../operator.ts';
import type { Random } from '../random.ts';
import { passingKey } from '../settings.ts';
import { Session } from './session.ts';

const LOOKS = 8;

/** A website whose key is revoked while its visitors open and hold sessions; then the next one. @param first number of the first key */
export async function passing(
  caller: Caller,
  random: Random,
  operator: Operator,
  { first, step, keys }: { readonly first: number; readonly step: number; readonly keys: number },
): Promise<void> {
  for (let n = first; n < keys && !caller.isOver; n += step) {
    const { id, key } = passingKey(n);
    let visitors = 0;
    const visit = (): Promise<Session | undefined> => {
      visitors += 1;
      return Session.open(caller, random.fork(), `${id}-${visitors}@mail.example`, key, id);
    };
    const early = await Promise.all([visit(), visit()]);
    await caller.pause(random.between(0, 3000));
    const [racing] = await Promise.all([Promise.all([visit(), visit()]), revoke(caller, operator, id)]);
    const sessions = [...early, ...racing].filter((session) => session !== undefined);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const late = await visit();
      if (late !== undefined) sessions.push(late);
      await Promise.all(sessions.map((session) => session.heartbeat()));
      await caller.pause(random.between(300, 900));
    }
    for (const session of sessions) session.leave();
  }
}

/** Repeats the revocation until it is acknowledged. */
async function revoke(caller: Caller, operator: Operator, keyId: string): Promise<void> {
  while (!(await operator.revokeKey(keyId))) await caller.pause(300);
}
