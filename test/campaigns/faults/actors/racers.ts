import type { Caller } from '../caller.ts';
import type { Random } from '../random.ts';
import { Session } from './session.ts';

/** A user with many clients that open and close sessions as fast as they can: puts the limit of concurrent sessions under pressure. */
export async function racers(caller: Caller, random: Random, name: string): Promise<void> {
  const email = `${name}@mail.example`;
  while (!caller.isOver) {
    const crowd = Array.from({ length: 6 }, () => random.fork());
    const opened = await Promise.all(crowd.map((chance) => Session.open(caller, chance, email)));
    const sessions = opened.filter((session) => session !== undefined);
    await caller.pause(random.between(0, 800));
    await Promise.all(sessions.map((session) => (random.chance(0.8) ? session.end() : session.heartbeat())));
    for (const session of sessions) session.leave();
    await caller.pause(random.between(50, 500));
  }
}
