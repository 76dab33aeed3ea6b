import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from '../../e2e/calls-world.ts';
import type { TestCall } from '../../support/provider/call.ts';
import type { Random } from '../faults/random.ts';

/** What goes wrong in a turn of a call; `cut off` is the last turn of its call. */
const TROUBLES = [
  'told twice',
  'failed',
  'unreadable',
  'connection broken',
  'connection closed',
  'cut off',
  'expired',
] as const;

type Trouble = (typeof TROUBLES)[number];

/** The share of turns in which something goes wrong. */
const TROUBLED = 0.12;
const TURNS = { min: 1, max: 4 };
const PAUSE_MS = { min: 500, max: 2000 };
/** How long a response runs before it is cut off. */
const RUNS_MS = { min: 200, max: 1500 };
/** As fast as people speak. */
const GENERATION = { tokensPerSec: 20, inputTokens: 200 };
/** The share of visitors whose page reports the usage that it heard. */
const REPORTS = 0.1;

/** How often each thing happened. */
export type Happened = Map<Trouble | 'turns' | 'reports', number>;

/**
 * A visitor and the agent talk for a few turns, which cost per second about what models are expected to. Then the visitor leaves, and the session is
 * yet to be ended.
 * @returns the usage that the page heard, by response, if it reports that
 */
export async function talk(call: TestCall, random: Random, happened: Happened): Promise<HeardUsage> {
  const heard: HeardUsage = new Map();
  const doesReport = random.chance(REPORTS);
  let last: object | undefined;
  call.onPageEvent = (event) => {
    if (event['type'] !== 'response.done') return;
    last = event;
    const { id, usage } = event['response'] as { readonly id: string; readonly usage: unknown };
    if (doesReport && usage !== null) heard.set(id, usage);
  };
  for (let turns = random.between(TURNS.min, TURNS.max); turns > 0 && call.ended === undefined; turns -= 1) {
    await delay(random.between(PAUSE_MS.min, PAUSE_MS.max));
    const trouble = random.chance(TROUBLED) ? random.pick(TROUBLES) : undefined;
    // Drawn in any case, so that what happens in one turn does not change the others.
    const usage = usageOf(random);
    count(happened, trouble ?? 'turns');
    if (trouble === 'cut off') {
      await beginLong(call, random);
      break;
    }
    takeTurn(call, usage, trouble);
    if (trouble === 'told twice') call.emitRaw(JSON.stringify(last));
  }
  return heard;
}

/** What was used, by the id of its response. */
export type HeardUsage = Map<string, unknown>;

/** Reports what the page heard, as pages do whose calls had gaps. */
export async function report(page: Page, heard: HeardUsage, happened: Happened): Promise<void> {
  for (const [id, usage] of heard) {
    await page.post('/api/auth/usage', { tokens: 0, dollars: 0, response: { id, usage } });
    count(happened, 'reports');
  }
}

function takeTurn(call: TestCall, usage: object, trouble: Trouble | undefined): void {
  if (trouble === 'failed') call.finishResponse('failed', call.beginResponse(undefined));
  else if (trouble === 'connection broken') call.breakSidebands();
  else if (trouble === 'connection closed') call.closeSidebands(1001);
  else if (trouble === 'expired') call.expire();
  else {
    call.tellsReadableUsage = trouble !== 'unreadable';
    call.respond(usage);
  }
}

/** Begins a response that still runs when the visitor leaves. The provider may not say what it costs when it is cut off. */
async function beginLong(call: TestCall, random: Random): Promise<void> {
  call.tellsCancelledUsage = random.chance(0.5);
  call.generation = GENERATION;
  const runsMs = random.between(RUNS_MS.min, RUNS_MS.max);
  if (call.ended === undefined) call.beginResponse(undefined);
  await delay(runsMs);
}

/** Tokens of a short turn. */
function usageOf(random: Random): object {
  const [textIn, textCached, textOut] = [random.between(0, 250), random.between(0, 200), random.between(0, 20)];
  const [audioIn, audioCached, audioOut] = [random.between(0, 90), random.between(0, 200), random.between(1, 90)];
  const [text, audio] = [textIn + textCached, audioIn + audioCached];
  return {
    total_tokens: text + audio + textOut + audioOut,
    input_tokens: text + audio,
    output_tokens: textOut + audioOut,
    input_token_details: {
      text_tokens: text,
      audio_tokens: audio,
      cached_tokens: textCached + audioCached,
      cached_tokens_details: { text_tokens: textCached, audio_tokens: audioCached, image_tokens: 0 },
    },
    output_token_details: { text_tokens: textOut, audio_tokens: audioOut },
  };
}

function count(happened: Happened, what: Trouble | 'turns' | 'reports'): void {
  happened.set(what, (happened.get(what) ?? 0) + 1);
}
