import type { ChallengeEvent } from '../../machines/otp-challenge/types.ts';
import type { CallEvent } from '../../machines/voice-call/types.ts';
import type { OperatorEvent } from '../../src/protocol/operator/event.ts';
import { answered, close, create, created, lost, ready } from '../machines/voice-call-support.ts';
import { clock, heartbeat, MINUTE, open, SECOND } from '../machines/voice-session-support.ts';
import { recordCall, recordChallenge, recordLogin, recordSession } from '../support/recorded-events.ts';
import type { Given } from './chart-page.ts';

/** When each of these actors was opened. */
const NOON = Date.parse('2030-01-31T12:00:00Z');

const at = (ms: number): number => NOON + ms;
const iso = (ms: number): string => new Date(at(ms)).toISOString();

/** What an actor went through, and how it stands some time later. */
export interface Story extends Given {
  readonly machine: string;
  readonly events: readonly OperatorEvent[];
}

/** A session that talks, falls silent and is abandoned. */
const silent = [open(at(0)), heartbeat(at(45 * SECOND), 0), clock(at(6 * MINUTE)), clock(at(62 * MINUTE))];

export async function talking(): Promise<Story> {
  const deadline = { at: iso(6 * MINUTE), to: 'idle' };
  return {
    machine: 'voice-session',
    state: 'engaged',
    events: await recordSession(silent.slice(0, 2)),
    now: at(2 * MINUTE),
    deadline,
  };
}

export async function gone(): Promise<Story> {
  const events = await recordSession([...silent, clock(at(125 * MINUTE))]);
  return { machine: 'voice-session', state: 'ended', events, now: at(130 * MINUTE) };
}

/** A session that was cut off because its time was up. */
export async function cut(): Promise<Story> {
  const talk = Array.from({ length: 14 }, (_, minute) => heartbeat(at((minute + 1) * MINUTE), 0));
  const events = await recordSession([open(at(0)), ...talk, clock(at(15 * MINUTE + 1))]);
  return { machine: 'voice-session', state: 'ended', events, now: at(16 * MINUTE) };
}

/** A heartbeat long after the session went idle, with no CLOCK event in between. */
export async function late(): Promise<Story> {
  const events = await recordSession([open(at(0)), heartbeat(at(7 * MINUTE))]);
  return { machine: 'voice-session', state: 'ended', events, now: at(8 * MINUTE) };
}

/** Moves the times of a support file, which start at 0, to start at noon. */
function atNoon(event: CallEvent): CallEvent {
  const moved = Object.entries(event).map(([name, value]) => [
    name,
    /^at$|AtMs$/.test(name) ? at(value as number) : value,
  ]);
  return Object.fromEntries(moved) as CallEvent;
}

const call = [create, created(SECOND), ready(2 * SECOND), lost(90 * SECOND)];

export async function unheardCall(): Promise<Story> {
  const deadline = { at: iso(110 * SECOND), to: 'closing' };
  return {
    machine: 'voice-call',
    state: 'open',
    events: await recordCall(call.map(atNoon)),
    now: at(100 * SECOND),
    deadline,
  };
}

export async function closedCall(): Promise<Story> {
  const hangUp = [close(130 * SECOND), answered(131 * SECOND, 'asked'), answered(132 * SECOND, 'already_over')];
  const events = await recordCall([...call, ready(95 * SECOND), ...hangUp].map(atNoon));
  return { machine: 'voice-call', state: 'closed', events, now: at(3 * MINUTE) };
}

/** A login code that was mistyped twice. */
export async function mistyped(): Promise<Story> {
  const [right, wrong] = ['a'.repeat(64), 'b'.repeat(64)];
  const terms = {
    id: 'c1',
    subject: 's1',
    asker: 'owner',
    codeHash: right,
    expiresAtMs: at(10 * MINUTE),
    maxAttempts: 5,
  };
  const redeem = (ms: number, codeHash: string): ChallengeEvent => ({
    type: 'REDEEM',
    at: at(ms),
    codeHash,
    asker: 'owner',
  });
  const tries = [redeem(30 * SECOND, wrong), redeem(50 * SECOND, wrong), redeem(70 * SECOND, right)];
  const events = await recordChallenge([{ type: 'ISSUE', at: at(0), terms }, ...tries]);
  return { machine: 'otp-challenge', state: 'verified', events, now: at(2 * MINUTE) };
}

async function loggedOut(): Promise<Story> {
  const login = { type: 'OPEN', at: at(0), id: 'auth_1', email: 'a@example.com' } as const;
  const events = await recordLogin([login, { type: 'DESTROY', at: at(9 * MINUTE), reason: 'logout' }]);
  return { machine: 'auth-session', state: 'destroyed', events, now: at(10 * MINUTE) };
}

/** The story as it was after one of its events, counted from the newest. */
export function steppedBack(story: Story, index: number): Story {
  return { ...story, at: story.events[index]?.id ?? null };
}

/** Stories of every machine, both current and stepped back. */
export async function everyStory(): Promise<readonly (readonly [string, Story])[]> {
  const over = { gone: await gone(), call: await closedCall(), code: await mistyped(), login: await loggedOut() };
  const now = { talking: await talking(), cut: await cut(), late: await late(), unheard: await unheardCall(), ...over };
  return [
    ...Object.entries(now),
    ...Object.entries(over).map(([name, story]) => [`${name}, stepped back`, steppedBack(story, 1)] as const),
  ];
}
