import type { Caller } from '../caller.ts';
import type { Random } from '../random.ts';
import { limits, thriftyKey, thriftyTokens } from '../settings.ts';
import { Session } from './session.ts';

type Life = (caller: Caller, random: Random, session: Session) => Promise<unknown>;

/** Sends heartbeats for a while. @returns whether the session is still alive, as far as the client knows */
async function live(caller: Caller, random: Random, session: Session, beats: number): Promise<boolean> {
  for (let beat = 0; beat < beats && !caller.isOver; beat += 1) {
    await caller.pause(random.between(300, 1500));
    const answer = random.chance(0.3) ? await session.report() : await session.heartbeat();
    if (answer.outcome === 403) return false;
  }
  return true;
}

/** Asks again after the end, at any node: the answer must stay the same. */
async function askAgain(caller: Caller, random: Random, session: Session): Promise<void> {
  for (let times = 0; times < 3; times += 1) {
    await session.heartbeat();
    await caller.pause(random.between(100, 1500));
  }
}

const lives: readonly Life[] = [
  async function close(caller, random, session) {
    if (await live(caller, random, session, random.between(0, 8))) await session.end();
    await askAgain(caller, random, session);
  },
  async function forget(caller, random, session) {
    await live(caller, random, session, random.between(0, 4));
  },
  async function comeBackLate(caller, random, session) {
    await live(caller, random, session, random.between(0, 3));
    await caller.pause((limits.maxIdleSec + 1.5) * 1000);
    await askAgain(caller, random, session);
  },
  async function closeInARace(caller, random, session) {
    await live(caller, random, session, random.between(0, 3));
    await Promise.all([session.end(), session.heartbeat(), session.end(), session.report(), session.heartbeat()]);
    await askAgain(caller, random, session);
  },
  async function listenToTheEnd(caller, random, session) {
    await live(caller, random, session, random.between(0, 3));
    const patience = (limits.staleGraceSec + limits.staleReapSec + 4) * 4;
    for (let waits = 0; waits < patience && session.line?.hasEnded === false && !caller.isOver; waits += 1) {
      await session.line.attach();
      await caller.pause(250);
    }
  },
];

/** Users who share a few addresses and hold sessions in all the ways that users do. */
export async function voices(caller: Caller, random: Random): Promise<void> {
  while (!caller.isOver) {
    const session = await Session.open(caller, random, `voice${random.between(0, 7)}@mail.example`);
    if (session !== undefined) await random.pick(lives)(caller, random, session);
    session?.leave();
    if (session === undefined) await caller.pause(random.between(200, 1500));
  }
}

/** A user who talks until the maximum duration is over and then tries to go on. */
export async function stayer(caller: Caller, random: Random, name: string): Promise<void> {
  for (let life = 0; !caller.isOver; life += 1) {
    const session = await Session.open(caller, random, `${name}${life}@mail.example`);
    if (session === undefined) await caller.pause(300);
    else if (!(await live(caller, random, session, 1000))) await askAgain(caller, random, session);
    session?.leave();
  }
}

/** A user with three sessions who uses up the day's tokens: all three sessions must end. */
export async function spender(caller: Caller, random: Random, name: string): Promise<void> {
  for (let life = 0; !caller.isOver; life += 1) {
    const email = `${name}${life}@mail.example`;
    const opened = await Promise.all([1, 2, 3].map(() => Session.open(caller, random, email, thriftyKey)));
    const sessions = opened.filter((session) => session !== undefined);
    for (const session of sessions.slice(0, 1)) {
      await caller.pause(random.between(500, 1500));
      await Promise.all([thriftyTokens / 2, thriftyTokens / 2, 1].map((tokens) => session.report(tokens)));
    }
    for (const session of sessions) await askAgain(caller, random, session);
    for (const session of sessions) session.leave();
  }
}
