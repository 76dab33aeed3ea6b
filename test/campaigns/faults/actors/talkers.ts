import type { TestProvider } from '../../../support/provider.ts';
import { offerSdp } from '../../../support/provider/sdp.ts';
import type { Caller } from '../caller.ts';
import type { Random } from '../random.ts';
import { site, siteKey } from '../settings.ts';
import { Session } from './session.ts';

const TICK_MS = 100;

/** A user who talks with the provider in calls that Switchboard opens. Every session has an address of its own. */
export async function talker(caller: Caller, random: Random, name: string): Promise<void> {
  for (let life = 0; !caller.isOver; life += 1) {
    const email = `${name}${life}@mail.example`;
    const session = await Session.open(caller, random, email, siteKey, undefined, 'talk');
    const opened = session === undefined ? undefined : await openCall(caller, random, session);
    for (let beats = opened === 201 ? random.between(2, 20) : 0; beats > 0 && !caller.isOver; beats -= 1) {
      await caller.pause(random.between(500, 2000));
      if ((await session?.heartbeat())?.outcome === 403) break;
    }
    if (random.chance(0.7)) await session?.end();
    session?.leave();
    await caller.pause(random.between(200, 1500));
  }
}

async function openCall(caller: Caller, random: Random, { id, email, ticket = '' }: Session) {
  const { outcome } = await caller.send(
    {
      call: 'call',
      body: offerSdp({ channel: false }),
      headers: { origin: site, authorization: `Bearer ${ticket}`, 'content-type': 'application/sdp' },
      about: { session: id, email },
    },
    random,
  );
  return outcome;
}

/**
 * What the provider does on its own in open calls: it hears the visitor, sends responses that cost money, and now and then ends a call. No
 * one speaks until the page has its answer, and it gets that only after a sideband has spoken: before that there is no media to bill.
 */
export class ProvidersTalk {
  readonly #timer: NodeJS.Timeout;

  constructor({ calls }: TestProvider, random: Random) {
    this.#timer = setInterval(() => {
      for (const call of calls.all) {
        if (call.ended !== undefined || call.heard.length === 0 || !random.chance(TICK_MS / 2000)) continue;
        if (random.chance(0.005)) call.end('remote');
        else if (random.chance(0.5)) call.speechStarted();
        else call.respond(usageOf(random.between(2, 400), random.between(1, 400)));
      }
    }, TICK_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

function usageOf(input: number, output: number): object {
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_token_details: { text_tokens: 1, audio_tokens: input - 1, cached_tokens: 0 },
    output_token_details: { text_tokens: 0, audio_tokens: output },
  };
}
