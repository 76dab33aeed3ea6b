import { readError } from '../../../src/upstream/call-socket.ts';
import type { Ear, HeardFrame } from './ear.ts';
import { Refused, type Lab, type LabCall } from './lab.ts';

/** A call with a sideband that hears it. @param max_output_tokens the limit for each response @throws Refused */
export async function readyCall(
  lab: Lab,
  max_output_tokens = 200,
): Promise<{ readonly call: LabCall; readonly ear: Ear }> {
  const call = await lab.call();
  const ear = await lab.attach(call);
  await updateSession(lab, ear, { max_output_tokens });
  return { call, ear };
}

/** @throws Refused if the provider does not confirm the change */
export async function updateSession(lab: Lab, ear: Ear, change: object): Promise<void> {
  const updated = await sendUpdate(lab, ear, change);
  if (updated?.frame.type !== 'session.updated') throw new Refused('no session.updated');
}

/** @returns the provider's answer: `session.updated`, or an error; undefined if there is none */
export function sendUpdate(lab: Lab, ear: Ear, change: object): Promise<HeardFrame | undefined> {
  ear.send({ type: 'session.update', session: { type: 'realtime', ...change } });
  return lab.next(ear, 'session.updated', 'error');
}

/** Describes an event by its type, and an error by its code. */
export function describeEvent(heard: HeardFrame | undefined): string {
  if (heard === undefined) return 'no answer';
  return heard.frame.type === 'error' ? `error ${readError(heard.frame).code}` : heard.frame.type;
}
