import { z } from 'zod';
import type { Ear, HeardFrame } from './ear.ts';
import { Refused, type Lab, type LabCall } from './lab.ts';
import type { Question } from './question.ts';
import { describeEvent, readyCall, updateSession } from './ready-call.ts';

/** A call in which nothing is said costs nothing; a short response in text costs less than this. */
const ONE_RESPONSE = 10_000;
const MAX_SIDEBANDS = 4;
const PROBES = 6;

const done = z.object({
  response: z.object({ status: z.string(), usage: z.object({ output_tokens: z.int() }).nullish() }),
});

export const realtimeQuestions: readonly Question[] = [
  {
    name: 'project-key',
    asks: 'Does the project key control calls that were created with a client secret?',
    microDollars: 0,
    async ask(lab) {
      const secret = await lab.secret();
      const call = await lab.call(secret);
      const attached = await lab.tryAttach(call);
      const own = await lab.tryAttach(call, secret);
      const hungUp = await lab.hangUp(call);
      return `sideband: ${attached} (with the secret itself: ${own}); hang-up: ${hungUp}`;
    },
  },
  {
    name: 'gone-calls',
    asks: 'What does a hang-up of a call reply that is gone?',
    microDollars: 0,
    async ask(lab) {
      const call = await lab.call();
      const first = await lab.hangUp(call);
      const second = await lab.hangUp(call);
      await lab.pause(lab.options.quietMs);
      const later = await lab.hangUp(call);
      const never = await lab.hangUp({ api: 'realtime', id: 'rtc_0123456789abcdefghijklmn' });
      return `first: ${first}; at once again: ${second}; later: ${later}; a call that never was: ${never}`;
    },
  },
  {
    name: 'last-response',
    asks: 'Is there a last response.done when a call is hung up during a response?',
    microDollars: 2 * ONE_RESPONSE,
    async ask(lab) {
      const hungUp = await respondAnd(lab, async (call) => void (await lab.hangUp(call)));
      const cancelled = await respondAnd(lab, (_, ear) => ear.send({ type: 'response.cancel' }));
      return `on a hang-up: ${hungUp}; on response.cancel: ${cancelled}`;
    },
  },
  {
    name: 'hears-hang-up',
    asks: 'What does a sideband hear on a hang-up?',
    microDollars: 0,
    async ask(lab) {
      const { call, ear } = await readyCall(lab);
      await lab.hangUp(call);
      return ear.listen(lab.options.quietMs);
    },
  },
  {
    name: 'hears-loss',
    asks: 'What does a sideband hear when the browser is gone?',
    microDollars: 0,
    async ask(lab) {
      const { call, ear } = await readyCall(lab);
      await call.browser.close();
      const heard = await ear.listen(lab.options.quietMs);
      ear.close();
      return `${heard}; attaching anew: ${await lab.tryAttach(call)}`;
    },
  },
  {
    name: 'hears-page-update',
    asks: "Does a sideband hear the page's session.updated?",
    microDollars: 0,
    async ask(lab) {
      const { call, ear } = await readyCall(lab);
      if (!call.isConnected) return 'no answer: the data channel did not open';
      call.browser.say({ type: 'session.update', session: { type: 'realtime', instructions: 'From the page.' } });
      const heard = await lab.next(ear, 'session.updated', 'error');
      return heard?.frame.type === 'session.updated' ? 'yes' : `no${heard === undefined ? '' : ': an error'}`;
    },
  },
  {
    name: 'sidebands',
    asks: 'How many sidebands may one call have?',
    microDollars: 0,
    async ask(lab) {
      const call = await lab.call();
      const ears: Ear[] = [];
      let refusal = '';
      while (ears.length < MAX_SIDEBANDS && refusal === '') {
        try {
          ears.push(await lab.attach(call));
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          refusal = error.message;
        }
      }
      const [first] = ears;
      first?.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Ask.' } });
      const heard = await Promise.all(ears.map((ear) => lab.next(ear, 'session.updated')));
      for (const ear of ears) ear.close();
      const hearing = heard.filter((frame) => frame !== undefined).length;
      const bound = refusal === '' ? `${MAX_SIDEBANDS} or more` : `${ears.length}, then ${refusal}`;
      return `${bound}; ${hearing} heard the update of one`;
    },
  },
  {
    name: 'unanswered',
    asks: 'When does a call die whose answer nobody took?',
    microDollars: 0,
    async ask(lab) {
      const call = await lab.call(lab.options.apiKey, false);
      const step = (2 * lab.options.quietMs) / PROBES;
      for (let probe = 1; probe <= PROBES; probe += 1) {
        await lab.pause(step);
        const attached = await lab.tryAttach(call);
        if (attached !== 'attached') return `within ${(probe * step) / 1000} s (${attached})`;
      }
      return `it is still known after ${(PROBES * step) / 1000} s`;
    },
  },
  {
    name: 'same-item',
    asks: 'What is said to a second item of the same id?',
    microDollars: 0,
    async ask(lab) {
      const { ear } = await readyCall(lab);
      const put = async (text: string): Promise<string> => {
        const content = [{ type: 'input_text', text }];
        ear.send({ type: 'conversation.item.create', item: { id: 'same', type: 'message', role: 'user', content } });
        return describeEvent(await lab.next(ear, 'conversation.item.added', 'error'));
      };
      const first = await put('One.');
      const second = await put('Two.');
      ear.close();
      return `first: ${first}; second: ${second}`;
    },
  },
  {
    name: 'limit-by-update',
    asks: 'Does max_output_tokens by session.update bound the next response?',
    microDollars: ONE_RESPONSE,
    async ask(lab) {
      const { ear } = await readyCall(lab);
      await updateSession(lab, ear, { max_output_tokens: 16 });
      count(ear);
      return describeDone(await lab.next(ear, 'response.done'));
    },
  },
];

/** Makes the agent write as much as it may, in text because that is the cheapest. */
function count(ear: Ear): void {
  ear.send({
    type: 'response.create',
    response: { output_modalities: ['text'], instructions: 'Write the numbers from one to two hundred, in words.' },
  });
}

async function respondAnd(lab: Lab, act: (call: LabCall, ear: Ear) => unknown): Promise<string> {
  const { call, ear } = await readyCall(lab);
  count(ear);
  const begun = await lab.next(ear, 'response.created', 'error');
  if (begun?.frame.type !== 'response.created') throw new Refused('no response');
  await act(call, ear);
  const last = await lab.next(ear, 'response.done');
  ear.close();
  return describeDone(last);
}

function describeDone(heard: HeardFrame | undefined): string {
  const { data } = done.safeParse(heard?.frame);
  if (data === undefined) return 'no response.done';
  const { status, usage } = data.response;
  return `${status}, ${usage == null ? 'without usage' : `with usage of ${usage.output_tokens} output tokens`}`;
}
