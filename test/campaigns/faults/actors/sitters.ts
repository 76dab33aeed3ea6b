import type { Caller } from '../caller.ts';
import type { Random } from '../random.ts';
import { siteKey } from '../settings.ts';
import { Session } from './session.ts';

/**
 * A user of whom the service hears nothing but the heartbeats of one socket, so that its node answers them before it saves them. It then ends the
 * session, or goes away and lets it end by the clock, which shows which heartbeat was the last that was kept.
 */
export async function sitter(caller: Caller, random: Random, name: string): Promise<void> {
  for (let life = 0; !caller.isOver; life += 1) {
    const email = `${name}${life}@mail.example`;
    const session = await Session.open(caller, random, email, siteKey, undefined, 'support', true);
    for (let beats = session === undefined ? 0 : random.between(5, 60); beats > 0 && !caller.isOver; beats -= 1) {
      await caller.pause(random.between(100, 900));
      if ((await session?.heartbeat())?.outcome === 403) break;
    }
    if (random.chance(0.3)) await session?.end();
    session?.leave();
    await caller.pause(random.between(200, 1500));
  }
}
