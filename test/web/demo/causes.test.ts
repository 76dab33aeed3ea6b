import { expect, test } from 'vitest';
import { END_REASONS } from '../../../machines/voice-session/end-reasons.ts';
import { createVoiceSessionMachine } from '../../../machines/voice-session/machine.ts';
import { causeOf } from '../../../src/web/demo/chart.ts';

const definition = JSON.stringify(createVoiceSessionMachine({} as never).config);

test.each(Object.keys(END_REASONS))('The demo page knows what of the machine ends a session as %s', (reason) => {
  const cause = causeOf(reason);
  expect(cause).toBeDefined();
  expect(definition).toContain(`"${cause}"`);
  const isAsked = END_REASONS[reason as keyof typeof END_REASONS].causedBy === 'request';
  expect(cause === 'END').toBe(isAsked);
});

test('The demo page does not say how a session ended that the server does not know', () => {
  expect(causeOf('not_found')).toBeUndefined();
});
