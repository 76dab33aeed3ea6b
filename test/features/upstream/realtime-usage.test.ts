import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readError, readFrame } from '../../../src/upstream/call-socket.ts';
import { eventsOf as liveEventsOf } from '../../../src/upstream/openai-live-sideband.ts';
import { differingFields, toldSession } from '../../../src/upstream/realtime-session.ts';
import { eventsOf, transcriberOf } from '../../../src/upstream/realtime-events.ts';
import { readTokens } from '../../../src/upstream/realtime-usage.ts';
import { examples } from '../../support/examples.ts';

const none = {
  textIn: 0,
  textCached: 0,
  textOut: 0,
  audioIn: 0,
  audioCached: 0,
  audioOut: 0,
  imageIn: 0,
  imageCached: 0,
};

describe('Tokens', () => {
  test('without a modality belong to the dearest class of their direction', () => {
    expect(readTokens({ input_tokens: 10, output_tokens: 4 })).toEqual({ ...none, audioIn: 10, audioOut: 4 });
    expect(
      readTokens({
        input_tokens: 10,
        input_token_details: { text_tokens: 7 },
        output_tokens: 4,
        output_token_details: { text_tokens: 1 },
      }),
    ).toEqual({ ...none, textIn: 7, audioIn: 3, textOut: 1, audioOut: 3 });
  });

  test('of output beyond its text and audio, where both are told, are reasoning, which is text', () => {
    const output = (output_token_details: object) =>
      readTokens({ input_tokens: 0, output_tokens: 100, output_token_details });
    expect(output({ text_tokens: 10, audio_tokens: 30 })).toEqual({ ...none, textOut: 70, audioOut: 30 });
    expect(output({ text_tokens: 0, audio_tokens: 0 })).toEqual({ ...none, textOut: 100 });
    expect(output({ text_tokens: 10 })).toEqual({ ...none, textOut: 10, audioOut: 90 });
    expect(output({ audio_tokens: 30, text_tokens: null })).toEqual({ ...none, audioOut: 100 });
  });

  test('that were cached without a modality are taken from text, then images, then audio', () => {
    const usage = (cached_tokens: number) => ({
      input_tokens: 30,
      input_token_details: { text_tokens: 10, image_tokens: 10, audio_tokens: 10, cached_tokens },
      output_tokens: 0,
    });
    expect(readTokens(usage(4))).toEqual({ ...none, textIn: 6, textCached: 4, imageIn: 10, audioIn: 10 });
    expect(readTokens(usage(14))).toEqual({
      ...none,
      textCached: 10,
      imageIn: 6,
      imageCached: 4,
      audioIn: 10,
    });
    expect(readTokens(usage(30))).toEqual({ ...none, textCached: 10, imageCached: 10, audioCached: 10 });
    expect(readTokens(usage(31))).toBeUndefined();
  });

  test('that were cached by a modality are a part of that modality', () => {
    const cached = (details: object) =>
      readTokens({
        input_tokens: 20,
        input_token_details: { text_tokens: 10, audio_tokens: 10, cached_tokens_details: details },
        output_tokens: 0,
      });
    expect(cached({ audio_tokens: 3 })).toEqual({ ...none, textIn: 10, audioIn: 7, audioCached: 3 });
    expect(cached({ text_tokens: 11 })).toBeUndefined();
  });

  test('are as many by class as by direction, whatever details the provider leaves out', () => {
    const count = fc.integer({ min: 250, max: 1000 });
    const some = fc.option(fc.nat(100), { nil: undefined });
    const parts = fc.record({ text_tokens: some, audio_tokens: some, image_tokens: some });
    fc.assert(
      fc.property(count, count, parts, some, parts, parts, (input, output, details, cached, byKind, out) => {
        const usage = {
          input_tokens: input,
          output_tokens: output,
          input_token_details: { ...details, cached_tokens: cached, cached_tokens_details: byKind },
          output_token_details: out,
        };
        const tokens = readTokens(usage);
        if (tokens === undefined) return;
        const { textIn, textCached, audioIn, audioCached, imageIn, imageCached, textOut, audioOut } = tokens;
        expect(Math.min(...Object.values(tokens))).toBeGreaterThanOrEqual(0);
        expect(textIn + textCached + audioIn + audioCached + imageIn + imageCached).toBe(input);
        expect(textOut + audioOut).toBe(output);
        const allCached = textCached + audioCached + imageCached;
        expect(allCached).toBe(cached ?? allCached);
      }),
    );
  });
});

describe('Whatever a provider says', () => {
  const types = [
    'response.done',
    'response.created',
    'conversation.item.input_audio_transcription.completed',
    'rate_limits.updated',
    'session.updated',
    'conversation.item.added',
    'response.output_text.delta',
    'session.closed',
    'session.usage.updated',
    'error',
  ];
  const keys = fc.constantFrom(
    'response',
    'usage',
    'id',
    'status',
    'input_tokens',
    'output_tokens',
    'input_token_details',
    'cached_tokens_details',
    'text_tokens',
    'item_id',
    'seconds',
    'rate_limits',
    'error',
    'code',
    'session',
    'response_id',
    'item',
    'max_output_tokens',
    'tools',
    'instructions',
    'reason',
    '__proto__',
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, true, '', 'x', -1, 0, 1.5, 1e9, []),
      fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const read = (text: string): void => {
    const frame = readFrame(text);
    if (frame === undefined) return;
    eventsOf(frame, transcriberOf(frame), 1000);
    differingFields(toldSession(frame), { model: 'm', voice: 'v', tools: [], maxOutputTokens: 9 }, undefined, 9);
    liveEventsOf(frame);
    readError(frame);
  };

  test('is read without throwing, whether it is JSON or not', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), read));
  });

  test('is read without throwing where it looks like an event', () => {
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.dictionary(keys, tree), (type, rest) =>
        read(JSON.stringify({ ...rest, type })),
      ),
      examples(500),
    );
  });
});
