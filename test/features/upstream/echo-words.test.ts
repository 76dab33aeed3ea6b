import { expect, test } from 'vitest';
import { replyTo } from '../../../packages/echo/words.ts';

const tools = ['lookup', 'get_opening_hours'];

test.each([
  ['lookup {"id":7}', { type: 'call', name: 'lookup', arguments: '{"id":7}' }],
  ['lookup now', { type: 'call', name: 'lookup', arguments: '{}' }],
  ['When are your opening hours?', { type: 'call', name: 'get_opening_hours', arguments: '{}' }],
  ['OPENING HOURS', { type: 'call', name: 'get_opening_hours', arguments: '{}' }],
  ['Two hours of opening words', { type: 'call', name: 'get_opening_hours', arguments: '{}' }],
  ['Please lookup', { type: 'text', text: 'Please lookup' }],
  ['Two hours', { type: 'text', text: 'Two hours' }],
])('The echo answers "%s" with a tool where that is meant, and else with the text', (text, reply) => {
  expect(replyTo(text, tools)).toEqual(reply);
});
