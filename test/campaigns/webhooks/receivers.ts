import type { Random } from '../faults/random.ts';
import { factNameOf, STATES } from './judge.ts';
import { Receiver, type Answer } from '../support/receiver.ts';

const SESSIONS = ['session.started', 'session.ended', 'session.settled'];
const CALLS = ['call.opened', 'call.closed', 'call.unconfirmed'];

/** How long this receiver hangs, and then answers for as long. */
const HANGS_MS = 30_000;
const GONE_EVERY_MS = 25_000;
const FAILS = 0.25;

/** The receivers, each with a fault of its own. */
export interface Receivers {
  readonly all: readonly Receiver[];
  readonly rotating: Receiver;
  readonly gone: Receiver;
  readonly dead: Receiver;
  /** Makes all of them answer from now on. */
  heal(): void;
}

function start(name: string, types: readonly string[], answer?: Answer): Promise<Receiver> {
  return Receiver.start(name, types, factNameOf, answer);
}

export async function startReceivers(random: Random): Promise<Receivers> {
  let goneAtMs = Date.now() + GONE_EVERY_MS;
  const good = await start('answers', [...SESSIONS, ...CALLS, ...STATES]);
  const failing = await start('fails now and then', [...SESSIONS, ...CALLS], () => {
    if (!random.chance(FAILS)) return 204;
    return random.chance(0.5) ? 'reset' : random.pick([500, 503, 302, 429]);
  });
  const hanging = await start('hangs now and then', ['session.settled', 'call.closed'], () =>
    Math.floor(Date.now() / HANGS_MS) % 2 === 0 ? 'hang' : 204,
  );
  const gone = await start('is gone now and then', ['session.ended', 'call.opened'], () => {
    if (Date.now() < goneAtMs) return 204;
    goneAtMs = Date.now() + GONE_EVERY_MS;
    return 410;
  });
  const dead = await start('is dead', ['session.ended'], () => 500);
  const rotating = await start('rotates its secret, of the installation', [...SESSIONS, ...CALLS]);
  rotating.isOfInstallation = true;
  const all = [good, failing, hanging, gone, dead, rotating];
  return {
    all,
    rotating,
    gone,
    dead,
    heal() {
      for (const receiver of all) receiver.answer = () => 204;
    },
  };
}
