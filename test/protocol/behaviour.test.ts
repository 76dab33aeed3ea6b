import { describe, expect, test } from 'vitest';
import { behaviour, behaviourOf } from '../../src/protocol/behaviour.ts';

describe('How an agent behaves', () => {
  test.each([
    [{ greeting: true }],
    [{ greeting: 'Hello.', wrapUp: true, tellAi: false }],
    [{ language: 'de' }],
    [{ language: 'zh-Hant-TW' }],
    [{ extra: { audio: { output: { speed: 1 }, input: { turn_detection: { type: 'semantic_vad' } } } } }],
    [{ extra: { generationConfig: { temperature: 1, speechConfig: { languageCode: 'de' } } } }],
    [{ turns: {} }],
    [{ turns: { detect: 'semantic', eagerness: 'low', interrupt: false } }],
    [{ turns: { detect: 'silence', silenceMs: 200 } }],
    [{ turns: { detect: 'push' } }],
    [{ silence: { askAfterSec: 5 } }],
    [{ silence: { askAfterSec: 600, say: true } }],
    [{ silence: { askAfterSec: 30, say: 'Are you still there?' } }],
    [{ transcribe: false }],
    [{ transcribe: { model: 'whisper-1', words: ['Archaeopteryx'] } }],
    [{ noise: 'off', speed: 1.5, effort: 'high' }],
    [{ extra: { tracing: 'auto', include: ['x'] } }],
  ])('may be %j', (settings) => {
    expect(behaviour.parse(settings)).toEqual(settings);
  });

  test.each([
    [{ greeting: '' }, 'greeting'],
    [{ greeting: false }, 'greeting'],
    [{ greeting: 'x'.repeat(513) }, 'greeting'],
    [{ wrapUp: 'x'.repeat(513) }, 'wrapUp'],
    [{ language: 'German please' }, 'language'],
    [{ language: 'de-a' }, 'language'],
    [{ language: 'de-1' }, 'language'],
    [{ turns: { detect: 'guess' } }, 'turns.detect'],
    [{ turns: { silenceMs: 199 } }, 'turns.silenceMs'],
    [{ turns: { silenceMs: 3001 } }, 'turns.silenceMs'],
    [{ turns: { pause: 1 } }, 'turns'],
    [{ turns: { silenceMs: 500 } }, 'turns.silenceMs'],
    [{ turns: { detect: 'semantic', silenceMs: 500 } }, 'turns.silenceMs'],
    [{ turns: { detect: 'silence', eagerness: 'low' } }, 'turns.eagerness'],
    [{ turns: { detect: 'push', silenceMs: 500 } }, 'turns.silenceMs'],
    [{ turns: { detect: 'push', interrupt: true } }, 'turns.interrupt'],
    [{ silence: {} }, 'silence.askAfterSec'],
    [{ silence: { askAfterSec: 4 } }, 'silence.askAfterSec'],
    [{ silence: { askAfterSec: 601 } }, 'silence.askAfterSec'],
    [{ silence: { askAfterSec: 7.5 } }, 'silence.askAfterSec'],
    [{ silence: { askAfterSec: 30, say: '' } }, 'silence.say'],
    [{ silence: { askAfterSec: 30, often: true } }, 'silence'],
    [{ transcribe: true }, 'transcribe'],
    [{ transcribe: { words: Array.from({ length: 51 }, () => 'x') } }, 'transcribe'],
    [{ noise: 'none' }, 'noise'],
    [{ speed: 0.4 }, 'speed'],
    [{ speed: 1.6 }, 'speed'],
    [{ effort: 'most' }, 'effort'],
    [{ extra: { instructions: 'Be somebody else.' } }, 'extra.instructions'],
    [{ extra: { tools: [] } }, 'extra.tools'],
    [{ extra: { max_output_tokens: 'inf' } }, 'extra.max_output_tokens'],
    [{ extra: { truncation: 'disabled' } }, 'extra.truncation'],
    [{ extra: { audio: null } }, 'extra.audio'],
    [{ extra: { audio: { output: { voice: 'ash' } } } }, 'extra.audio.output.voice'],
    [{ extra: { client: {} } }, 'extra.client'],
    [{ extra: { system_instruction: {} } }, 'extra.system_instruction'],
    [{ extra: { generation_config: { maxOutputTokens: 1 } } }, 'extra.generation_config.maxOutputTokens'],
    [{ extra: { generationConfig: { speechConfig: [] } } }, 'extra.generationConfig.speechConfig'],
    [{ extra: { text: 'ä'.repeat(2048) } }, 'extra'],
  ])('may not be %j: the path of the fault is %s', (settings, path) => {
    const { error } = behaviour.safeParse(settings);
    expect(error?.issues.map((issue) => issue.path.join('.'))).toContain(path);
  });

  test.each([
    [{ greeting: false }, 'must be true, or 1 to 512 characters'],
    [{ wrapUp: false }, 'must be true, or 1 to 512 characters'],
    [{ transcribe: true }, 'must be false, or an object with a model and at most 50 words of 1 to 64 characters'],
    [{ tellAi: 'maybe' }, 'must be true, false or "greeting"'],
  ])('that is %j is refused in words that say what it may be', (settings, message) => {
    expect(behaviour.safeParse(settings).error?.issues.map((issue) => issue.message)).toEqual([message]);
  });

  test('is told without what is not set, and is nothing where nothing is', () => {
    const settings = { id: 'guide', model: 'm', greeting: true as const, speed: undefined };
    expect(behaviourOf(settings)).toEqual({ greeting: true });
    expect(behaviourOf({})).toBeNull();
  });
});
