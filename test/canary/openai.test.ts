import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BEHAVIOUR_FIELDS } from '../../src/protocol/behaviour.ts';
import { TestProvider } from '../support/provider.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import type { Browser } from './openai/browser.ts';
import { BUDGET_MICRO_DOLLARS, listQuestions, questions, runCanary, type CanaryOptions } from './openai/canary.ts';
import { settings } from './openai/settings-questions.ts';

let standIn: TestProvider;
let usage: NodeJS.Timeout;

beforeEach(async () => {
  standIn = await TestProvider.start();
  let seconds = 15;
  usage = setInterval(() => {
    seconds += 1;
    for (const call of standIn.calls.all) if (call.terms.api === 'live') call.tellSeconds(seconds);
  }, 5);
});

afterEach(async () => {
  clearInterval(usage);
  await standIn.close();
});

/** A browser whose closing makes the provider end its call. */
function openBrowser(): Promise<Browser> {
  let isClosed = false;
  return Promise.resolve({
    offerSdp: offerSdp(),
    accept(answerSdp) {
      standIn.lastCall.isPlayed = true;
      return Promise.resolve(answerSdp.startsWith('v=0'));
    },
    speak(ms) {
      const call = standIn.lastCall;
      const { input } = call.session['audio'] as { readonly input: { readonly turn_detection: object | null } };
      call.inputMs += ms;
      if (input.turn_detection !== null) call.speechStarted();
      return Promise.resolve();
    },
    say: (event) => standIn.lastCall.updateFromPage((event as { session: Record<string, unknown> }).session),
    close() {
      if (!isClosed && standIn.lastCall.terms.credential === standIn.apiKey) standIn.lastCall.end('remote');
      isClosed = true;
      return Promise.resolve();
    },
  });
}

function run(changes: Partial<CanaryOptions> = {}) {
  return runCanary({
    apiKey: standIn.apiKey,
    baseUrl: standIn.baseUrl,
    model: 'gpt-realtime-2.1-mini',
    liveModel: 'gpt-live-1',
    openBrowser,
    patienceMs: 60_000,
    quietMs: 60,
    usageMs: 60_000,
    say: () => undefined,
    ...changes,
  });
}

describe('The canary', () => {
  test.each([
    [
      'project-key',
      'sideband: 404 call_id_not_found (with the secret itself: attached); hang-up: 404 call_id_not_found',
    ],
    [
      'gone-calls',
      'first: 200; at once again: 404 call_id_not_found; later: 404 call_id_not_found; a call that never was: 404 call_id_not_found',
    ],
    ['last-response', 'on a hang-up: no response.done; on response.cancel: cancelled, with usage of 200 output tokens'],
    ['hears-page-update', 'yes'],
    ['sidebands', '4 or more; 4 heard the update of one'],
    ['unanswered', 'it is still known after 0.12 s'],
    ['limit-by-update', 'incomplete, with usage of 16 output tokens'],
    ['agent-settings', 'together: taken; each: taken'],
    ['same-item', 'first: conversation.item.added; second: error item_already_exists'],
    [
      'push-to-talk',
      'of nothing: error input_audio_buffer_commit_empty; of 1000 ms: input_audio_buffer.committed; a response by itself: none within 0.06 s',
    ],
    ['interrupt', 'response.done, conversation.item.truncated, output_audio_buffer.cleared'],
    [
      'speak-over',
      'input_audio_buffer.speech_started, conversation.item.truncated, output_audio_buffer.cleared, response.done',
    ],
    ['live-hang-up', '404; attaching after it: attached'],
    ['live-safety', 'the header is taken; the session tells no maximum, and waiting for one costs too much'],
  ])('answers the question %s: %s', async (name, answer) => {
    const { answers, isClean } = await run({ only: [name] });
    expect([...answers]).toEqual([[name, answer]]);
    expect(isClean).toBe(true);
    expect(standIn.calls.all.filter(({ ended }) => ended === undefined)).toEqual([]);
  });

  test.each(['hears-hang-up', 'hears-loss'])('tells how a connection ends: %s', async (name) => {
    const { answers } = await run({ only: [name], quietMs: 60_000 });
    expect(answers.get(name)).toMatch(/^no event; closed with 1000/);
  });

  test('finds the settings of an agent that the provider no longer takes', async () => {
    standIn.calls.dropped.set('reasoning', 'refused').set('truncation', 'ignored');
    const { answers } = await run({ only: ['agent-settings'] });
    const efforts = ['minimal', 'high', 'medium', 'low'].map(
      (effort) => `{"effort":"${effort}"}: error unknown_parameter`,
    );
    expect(answers.get('agent-settings')).toBe(
      `together: 400 unknown_parameter; each: taken but for ${[...efforts, 'truncation: ignored'].join(', ')}`,
    );
    expect(BEHAVIOUR_FIELDS.filter((field) => settings.every((each) => each[field] === undefined))).toEqual([
      'greeting',
      'wrapUp',
      'silence',
      'tellAi',
    ]);
  });

  test('tells how often the live API tells its usage', async () => {
    const { answers } = await run({ only: ['live-usage'] });
    expect(answers.get('live-usage')).toMatch(/^every [\d.]+ s, with totals of \d+ and \d+ s$/);
  });

  test('asks whatever is open for less than $0.50 together', () => {
    const whole = questions.reduce((sum, { microDollars }) => sum + microDollars, 0);
    expect(whole).toBeLessThanOrEqual(BUDGET_MICRO_DOLLARS);
    expect(listQuestions().split('\n')).toHaveLength(questions.length);
  });

  test('goes on to the next question after one without an answer, and never repeats the key', async () => {
    const { answers, text } = await run({ apiKey: 'sk-wrong-secret', only: ['project-key', 'sidebands'] });
    expect([...answers.values()]).toEqual(['no answer: 401 invalid_api_key', 'no answer: 401 invalid_api_key']);
    expect(text).toContain('| sidebands | How many sidebands may one call have? |');
    expect(text).not.toContain('sk-wrong-secret');
  });

  test('stops where a call could not be ended', async () => {
    standIn.calls.hangupMode = 'broken';
    const said: string[] = [];
    const { answers, isClean } = await run({
      only: ['sidebands', 'unanswered'],
      openBrowser: silent,
      say: (line) => said.push(line),
    });
    expect([isClean, [...answers.keys()]]).toEqual([false, ['sidebands']]);
    expect(said.at(-1)).toMatch(/could not be ended/);
  });

  test('stops where a session of the live API is lost', async () => {
    standIn.calls.createMode = 'location missing';
    const { answers, isClean } = await run({ only: ['live-hang-up', 'live-safety'] });
    expect([isClean, ...answers.values()]).toEqual([false, 'no answer: a session without an id or an answer']);
  });

  test('asks nothing once it is stopped', async () => {
    const { answers } = await run({ signal: AbortSignal.abort() });
    expect(answers.size).toBe(0);
    expect(standIn.requests).toEqual([]);
  });

  test('without a key says how to give one, and exits with 64', async () => {
    const program = fileURLToPath(new URL('../run.mjs', import.meta.url));
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
      execFile(process.execPath, [program, 'canary', 'openai'], { env }, (error, _stdout, text) =>
        resolve({ code: error?.code, stderr: text }),
      );
    });
    expect(code).toBe(64);
    expect(stderr).toContain('OPENAI_API_KEY=sk-... npm run canary');
  });
});

/** A browser whose closing goes unnoticed. */
async function silent(): Promise<Browser> {
  return { ...(await openBrowser()), close: () => Promise.resolve() };
}
