import { describe, expect, test } from 'vitest';
import { EventChannel } from '../../../packages/echo/channel.ts';
import { SpeechDetector } from '../../../packages/echo/speech.ts';
import { ConversationUsage, describeUsage } from '../../../packages/echo/usage.ts';

const PACKET_MS = 20;
const loud = 20;
const quiet = 90;

describe('The speech detector', () => {
  /** Feeds packets with these levels, one every 20 ms. @returns the times at which an utterance was detected */
  function feed(detector: SpeechDetector, fromMs: number, levels: readonly number[]): number[] {
    return levels.flatMap((level, i) => {
      const atMs = fromMs + i * PACKET_MS;
      return detector.hear(atMs, level, 80) ? [atMs] : [];
    });
  }

  test('takes three loud packets in a row for speech, from the first of them on', () => {
    const detector = new SpeechDetector();
    expect(feed(detector, 0, [quiet, loud, loud, quiet, loud, loud, loud, loud])).toEqual([120]);
    expect(detector.startMs).toBe(80);
  });

  test('ends an utterance after a silence, once, with the last loud packet as its end', () => {
    const detector = new SpeechDetector();
    feed(detector, 0, [loud, loud, loud, loud, quiet]);
    expect(detector.takeEnded(560)).toBeUndefined();
    expect(detector.takeEnded(561)).toEqual({ startMs: 0, endMs: 60 });
    expect(detector.takeEnded(600)).toBeUndefined();
    expect(detector.startMs).toBeUndefined();
  });

  test('goes on over a short pause', () => {
    const detector = new SpeechDetector();
    feed(detector, 0, [loud, loud, loud]);
    expect(feed(detector, 400, [loud, loud, loud])).toEqual([]);
    expect(detector.takeEnded(941)).toEqual({ startMs: 0, endMs: 440 });
  });

  test.each([
    [51, true],
    [50, false],
  ])('judges by size where the browser tells no level: %i bytes', (bytes, isSpeech) => {
    const detector = new SpeechDetector();
    const heard = [0, 20, 40].map((atMs) => detector.hear(atMs, undefined, bytes));
    expect(heard).toEqual([false, false, isSpeech]);
  });
});

const silent = {
  asked: () => undefined,
  told: () => undefined,
  cancelled: () => undefined,
  configured: () => undefined,
  cleared: () => undefined,
  committed: () => undefined,
};

test('An echo says back what the visitor says, and not what was said in a call before', () => {
  const asked: string[] = [];
  const channel = new EventChannel({}, { ...silent, asked: (words) => asked.push(...words.map(({ text }) => text)) });
  for (const text of ['What was said before in this conversation: "Hello."', 'Are you there?'])
    channel.take({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
  channel.take({ type: 'response.create' });
  expect(asked).toEqual(['Are you there?']);
});

test('An echo tells a page whose channel opens later the words that it has said, and no more than a greeting has', async () => {
  const told: string[] = [];
  const channel = new EventChannel({}, { ...silent, told: ({ type }) => told.push(type) });
  channel.tell({ type: 'output_audio_buffer.started' });
  for (let n = 0; n < 400; n += 1) channel.tell({ type: 'response.output_text.delta', delta: `${n}` });
  expect(told).toHaveLength(401);
  const sent: { type: string; delta?: string }[] = [];
  const page = {
    readyState: 'open',
    onMessage: { subscribe: () => undefined },
    send: (text: string) => sent.push(JSON.parse(text)),
  };
  channel.open(page as unknown as Parameters<EventChannel['open']>[0]);
  await new Promise(setImmediate);
  expect(sent.map(({ type, delta }) => delta ?? type)).toEqual([
    'session.created',
    ...Array.from({ length: 300 }, (_, n) => `${n + 100}`),
  ]);
  channel.tell({ type: 'response.done' });
  expect(sent.at(-1)).toMatchObject({ type: 'response.done' });
  expect(told).toHaveLength(403);
});

test('An echo is asked for words by the settings of its call, until a page changes them or they are restored', () => {
  const channel = new EventChannel({}, silent, true);
  const asks = (session?: object): boolean => {
    if (session !== undefined) channel.take({ type: 'session.update', session });
    return channel.isTranscribing;
  };
  expect(asks()).toBe(true);
  expect(asks({ instructions: 'Shout.', audio: { input: { noise_reduction: null } } })).toBe(true);
  expect(asks({ audio: { input: { transcription: null } } })).toBe(false);
  expect(asks({ audio: null })).toBe(true);
  expect(asks({ audio: { input: { transcription: null } } })).toBe(false);
  channel.restore();
  expect(asks()).toBe(true);
  const quiet = new EventChannel({}, silent);
  expect(quiet.isTranscribing).toBe(false);
  quiet.take({ type: 'session.update', session: { audio: { input: { transcription: { model: 'whisper-1' } } } } });
  expect(quiet.isTranscribing).toBe(true);
});

test('An echo says the words that are for a tool which takes long, once, and is told by nobody but the system', () => {
  const asked: (string | undefined)[] = [];
  const channel = new EventChannel(
    {},
    { ...silent, asked: (words, instructions) => asked.push(words[0]?.text ?? instructions) },
  );
  const text = 'lookup_order takes a moment to answer. Until then say only: One moment, I am looking.';
  for (const role of ['system', undefined, 'user']) {
    const item = { type: 'message', role, content: [{ type: 'input_text', text }] };
    if (role !== undefined) channel.take({ type: 'conversation.item.create', item });
    channel.take({ type: 'response.create' });
  }
  expect(asked).toEqual(['Say exactly: One moment, I am looking.', undefined, text]);
});

describe('The usage of an echo', () => {
  test('grows with the conversation: what was said before is read again, from the cache', () => {
    const usage = new ConversationUsage();
    const none = { textOut: 0 };
    expect(usage.add(1000, undefined)).toEqual({
      ...none,
      textIn: 40,
      textCached: 0,
      audioIn: 10,
      audioCached: 0,
      audioOut: 20,
    });
    expect(usage.add(500, undefined)).toEqual({
      ...none,
      textIn: 0,
      textCached: 40,
      audioIn: 5,
      audioCached: 30,
      audioOut: 10,
    });
  });

  test('has no more output than a response may have', () => {
    expect(new ConversationUsage().add(10_000, 7)).toMatchObject({ audioIn: 100, audioOut: 7 });
  });

  test('is told in the words of the provider, where what is cached is a part of the input', () => {
    const usage = new ConversationUsage();
    usage.add(1000, undefined);
    expect(describeUsage(usage.add(500, undefined))).toEqual({
      total_tokens: 85,
      input_tokens: 75,
      output_tokens: 10,
      input_token_details: {
        text_tokens: 40,
        audio_tokens: 35,
        image_tokens: 0,
        cached_tokens: 70,
        cached_tokens_details: { text_tokens: 40, audio_tokens: 30, image_tokens: 0 },
      },
      output_token_details: { text_tokens: 0, audio_tokens: 10 },
    });
  });
});
