import { z } from 'zod';
import type { Question } from './question.ts';

/** At $0.05 a minute: opening bills 15 s, and ending may take 10 s more. */
const SHORT_CALL = 25_000;
/** A little more than two minutes. */
const LONG_CALL = 150_000;

const usage = z.object({ usage: z.object({ seconds: z.number() }) });
const expiry = z.looseObject({ expires_at: z.number() });

export const liveQuestions: readonly Question[] = [
  {
    name: 'live-hang-up',
    asks: 'Live: does a hang-up over HTTP end a WebRTC session?',
    microDollars: SHORT_CALL,
    async ask(lab) {
      const call = await lab.liveCall();
      const hungUp = await lab.hangUp(call);
      return `${hungUp}; attaching after it: ${await lab.tryAttach(call)}`;
    },
  },
  {
    name: 'live-safety',
    asks: 'Live: is OpenAI-Safety-Identifier taken, and how long may a session be?',
    microDollars: SHORT_CALL,
    async ask(lab) {
      const { session } = await lab.liveCall();
      const { data } = expiry.safeParse(session);
      const seconds = data === undefined ? undefined : Math.round(data.expires_at - Date.now() / 1000);
      return `the header is taken; ${seconds === undefined ? 'the session tells no maximum, and waiting for one costs too much' : `the session ends in ${seconds} s`}`;
    },
  },
  {
    name: 'live-usage',
    asks: 'Live: how often does session.usage.updated come?',
    microDollars: LONG_CALL,
    async ask(lab) {
      const call = await lab.liveCall();
      const ear = await lab.attach(call);
      const next = () => ear.next((type) => type === 'session.usage.updated', lab.options.usageMs / 2);
      const [first, second] = [await next(), await next()];
      ear.close();
      if (first === undefined || second === undefined)
        return `${first === undefined ? 'never' : 'once'} in ${lab.options.usageMs / 1000} s`;
      const totals = [first, second].map(({ frame }) => usage.safeParse(frame).data?.usage.seconds ?? '?');
      return `every ${(second.atMs - first.atMs) / 1000} s, with totals of ${totals.join(' and ')} s`;
    },
  },
];
