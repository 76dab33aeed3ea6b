import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Sideband } from '../../../src/upstream/contract.ts';
import type { TestCall } from '../../support/provider/call.ts';
import { StandInBench } from './benches.ts';
import type { Heard } from './heard.ts';

let bench: StandInBench;
let call: TestCall;
let heard: Heard;
let sideband: Sideband;
let told: string[];

beforeEach(async () => {
  bench = await StandInBench.open('openai');
  ({ call, heard, sideband } = await bench.listen());
  call.isPlayed = true;
  call.playedMs = 700;
  told = [];
  call.onPageEvent = ({ type }) => told.push(String(type));
});

afterEach(() => bench.close());

/** The events about who speaks and what was cut off. */
const made = (): unknown[] =>
  heard.events.flatMap((event) => {
    if (event.type === 'speech') return [`${event.who} ${event.isOn ? 'speaks' : 'is silent'}`];
    return event.type === 'transcriptCut' ? [`cut at ${event.atMs}`] : [];
  });
const beginning = [
  'response.created',
  'response.output_item.added',
  'response.content_part.added',
  'output_audio_buffer.started',
];

test('What is played to its end is told as speech until then, not until the response is done', async () => {
  const id = call.beginResponse(undefined);
  call.say('Hello.');
  call.finishResponse('completed', id);
  await heard.next('responseDone');
  expect(made()).toEqual(['agent speaks']);
  call.playOut();
  await heard.next('speech', 2);
  expect(made()).toEqual(['agent speaks', 'agent is silent']);
  expect(told).toEqual([
    ...beginning,
    'response.output_audio_transcript.delta',
    'response.done',
    'output_audio_buffer.stopped',
  ]);
});

test('What the visitor speaks into is cut where they heard it, and the agent is silent', async () => {
  call.beginResponse(undefined);
  call.speechStarted();
  await heard.next('responseDone');
  expect(made()).toEqual(['agent speaks', 'visitor speaks', 'cut at 700', 'agent is silent']);
  expect(told).toEqual([
    ...beginning,
    'input_audio_buffer.speech_started',
    'conversation.item.truncated',
    'output_audio_buffer.cleared',
    'response.done',
  ]);
});

test('What we interrupt goes on to be played until it is cleared as well', async () => {
  call.beginResponse(undefined);
  await heard.next('speaking');
  sideband.cancelResponse(undefined);
  await heard.next('responseDone');
  expect(made()).toEqual(['agent speaks']);
  sideband.clearSpeech();
  await heard.next('transcriptCut');
  await heard.next('speech', 2);
  expect(made()).toEqual(['agent speaks', 'cut at 700', 'agent is silent']);
  expect(told.slice(beginning.length)).toEqual([
    'response.done',
    'conversation.item.truncated',
    'output_audio_buffer.cleared',
  ]);
});

test('What is written is not played', async () => {
  call.beginResponse(undefined, undefined, { modalities: ['text'] });
  call.finishResponse();
  await heard.next('responseDone');
  expect([made(), told]).toEqual([[], ['response.created', 'response.done']]);
});
