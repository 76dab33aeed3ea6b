import { describe, expect, test } from 'vitest';
import { END_REASONS } from '../../machines/voice-session/end-reasons.ts';
import { publishedTypes } from '../../src/protocol/published-types.ts';

const types = publishedTypes();

describe('The shapes that the SDK publishes', () => {
  test('name every end reason', () => {
    const [, union = ''] = /^export type EndReason = (.*);$/m.exec(types) ?? [];
    expect(union.split(' | ')).toEqual(Object.keys(END_REASONS).map((reason) => `'${reason}'`));
  });

  test('tell what may be left out, in words where the wire has some', () => {
    expect(types).toContain(
      [
        '/** A refusal, as the server sends it. */',
        'export interface RefusalBody {',
        '  /** The error code, which clients should act on; more codes may be added */',
        '  readonly code: string;',
        '  /** What is wrong and what to do about it, for developers */',
        '  readonly error?: string;',
        '  /** A message that can be shown to end users unchanged, in the language of `Content-Language` */',
        '  readonly userMessage: string;',
      ].join('\n'),
    );
  });

  test('refer to each other by name', () => {
    expect(types).toContain('readonly tools?: readonly Tool[];');
    expect(types).toContain('export interface Tool {');
  });

  test('keep the further fields of a tool', () => {
    const [, tool = ''] = /^export interface Tool \{([^}]*)\}/m.exec(types) ?? [];
    expect(tool).toContain('readonly [further: string]: unknown;');
  });
});
