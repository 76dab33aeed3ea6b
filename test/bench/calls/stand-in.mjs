// The stand-in for the provider, in a process of its own: it answers offers, reports usage on sidebands, and records when it is asked to hang
// up. It is the tools' server too, so that one clock measures both.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const path = fileURLToPath(new URL('../../support/provider.ts', import.meta.url));
const { module } = await runnerImport(path, { configFile: false, logLevel: 'warn' });
const provider = await module.TestProvider.start();
const calls = provider.calls.all;
const usageOf = (tokens) => ({
  total_tokens: tokens,
  input_tokens: tokens / 2,
  output_tokens: tokens / 2,
  input_token_details: { text_tokens: 0, audio_tokens: tokens / 2, cached_tokens: 0 },
  output_token_details: { text_tokens: 0, audio_tokens: tokens / 2 },
});
const until = async (isSo, ms) => {
  for (const end = Date.now() + ms; !isSo() && Date.now() < end;) await new Promise((next) => setTimeout(next, 20));
  return isSo();
};

/** The words said in one turn, by the visitor and then by the agent, one at a time. */
const WORDS = { visitor: 5, agent: 25 };
const WORD_MS = 150;
const transcripts = {
  visitor: {
    delta: 'conversation.item.input_audio_transcription.delta',
    whole: 'conversation.item.input_audio_transcription.completed',
  },
  agent: { delta: 'response.output_audio_transcript.delta', whole: 'response.output_audio_transcript.done' },
};

let items = 0;
async function tellWords(call) {
  items += 1;
  for (const [who, { delta, whole }] of Object.entries(transcripts)) {
    const place = { item_id: `${who}_${items}`, output_index: 0, content_index: 0 };
    for (let n = 0; n < WORDS[who]; n += 1) {
      call.emit({ type: delta, ...place, delta: 'word ' });
      await new Promise((next) => setTimeout(next, WORD_MS));
    }
    call.emit({ type: whole, ...place, transcript: 'word '.repeat(WORDS[who]) });
  }
}

/** For how many milliseconds the tools' server had each request, by the id of its tool call. */
const ownMs = new Map();
const toolServer = createServer((request, response) => {
  const from = performance.now();
  request.resume().once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"state":"on its way"}');
    ownMs.set(request.headers['webhook-id'], performance.now() - from);
  });
});
await once(toolServer.listen(0, '127.0.0.1'), 'listening');

/** Callbacks that wait for the answers of tools, by the ids of their calls. */
const waiting = new Map();

/** Makes a call ask for a tool. @returns a promise of the answer, and of the milliseconds it took without the tool's own */
function askForTool(call, callId) {
  call.onPageEvent = ({ type, item }) => {
    if (type === 'response.created') setImmediate(() => call.finishResponse());
    if (type === 'conversation.item.added') waiting.get(item.call_id)?.(item.output);
  };
  const asked = { type: 'function_call', call_id: callId, name: 'lookup', arguments: '{"order":"A17"}' };
  const response = { id: `resp_${callId}`, status: 'completed', output: [asked], usage: usageOf(600) };
  const askedAt = performance.now();
  const answered = new Promise((resolve) => {
    waiting.set(callId, (output) => {
      resolve({ output, ms: performance.now() - askedAt - (ownMs.get(callId) ?? 0) });
      waiting.delete(callId);
      ownMs.delete(callId);
    });
  });
  call.emit({ type: 'response.done', response });
  return answered;
}

let timer;
let said = 0;
const work = {
  /** Each call speaks and has a response once every `everyMs`; the calls take turns. @param isTold whether its words are sent */
  talk({ everyMs, isTold = false }) {
    clearInterval(timer);
    if (everyMs === 0) return;
    let next = 0;
    const startedAt = performance.now();
    timer = setInterval(() => {
      const due = ((performance.now() - startedAt) / everyMs) * calls.length;
      for (; next < due; next += 1) {
        const call = calls[next % calls.length];
        if (call.ended !== undefined) continue;
        call.speechStarted();
        if (isTold) void tellWords(call);
        call.respond(usageOf(600));
        said += 1;
      }
    }, 10);
  },

  /** The last calls exceed their ceilings, one after the other. @returns the milliseconds until each was hung up */
  async exceed({ last, tokens, pauseMs }) {
    const chosen = calls.slice(-last);
    const told = [];
    for (const call of chosen) {
      told.push(Date.now());
      call.respond(usageOf(tokens));
      await new Promise((next) => setTimeout(next, pauseMs));
    }
    await until(() => chosen.every(({ ended }) => ended !== undefined), 20_000);
    return chosen.map(({ ended }, index) => (ended?.atMs ?? Infinity) - told[index]);
  },

  /** Waits for a sideband on each open call. @returns the milliseconds until half of them, and until all, were heard again */
  async heard({ sinceMs, withinMs }) {
    const open = calls.filter(({ ended }) => ended === undefined);
    const heardAt = open.map(() => undefined);
    await until(() => {
      open.forEach((call, index) => {
        if (call.sidebands.size > 0) heardAt[index] ??= Date.now() - sinceMs;
      });
      return heardAt.every((ms) => ms !== undefined);
    }, withinMs);
    return heardAt.map((ms) => ms ?? Infinity);
  },

  /** The calls take turns to ask for a tool. @returns the answer to each tool call, and the milliseconds it took */
  async askTools({ perSecond, seconds, round }) {
    const asked = [];
    const startedAt = performance.now();
    const isOver = () => {
      const due = Math.min(seconds, (performance.now() - startedAt) / 1000) * perSecond;
      while (asked.length < due) asked.push(askForTool(calls[asked.length % calls.length], `${round}_${asked.length}`));
      return asked.length >= perSecond * seconds;
    };
    await new Promise((resolve) => {
      const ticking = setInterval(() => {
        if (!isOver()) return;
        clearInterval(ticking);
        resolve();
      }, 2);
    });
    return Promise.all(asked);
  },

  async count() {
    const open = calls.filter(({ ended }) => ended === undefined);
    return {
      said,
      calls: calls.length,
      open: open.length,
      heard: open.filter(({ sidebands }) => sidebands.size > 0).length,
    };
  },
};

async function answer({ id, name, ...options }) {
  process.send({ id, answer: await work[name](options) });
}

process.on('message', (message) => void answer(message));
process.on('disconnect', () => process.exit());
process.send({ baseUrl: provider.baseUrl, apiKey: provider.apiKey, toolPort: toolServer.address().port });
