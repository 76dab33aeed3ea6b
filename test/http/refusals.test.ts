import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fieldsInWords, faultReply } from '../../src/http/refusals.ts';
import { ReplyDeadlineExceeded } from '../../src/kernel/errors.ts';

const schema = z.object({
  name: z.string().min(2).max(3).optional(),
  count: z.int().min(0).max(9).optional(),
  kind: z.enum(['widget', 'console']).optional(),
  ok: z.literal(true).optional(),
  list: z.array(z.string()).max(1).optional(),
  own: z.string('says it by itself').optional(),
});

const strict = z.strictObject({ dryRun: z.boolean().optional(), list: z.array(z.strictObject({ keyId: z.string() })) });

describe('What is wrong with a field', () => {
  test.each([
    [{ list: [], dryrun: true }, 'dryrun: is not a known field; did you mean dryRun?'],
    [{ list: [], dry_run: true }, 'dry_run: is not a known field; did you mean dryRun?'],
    [{ list: [{ keyId: 'a', key_id: 1 }] }, 'list.0.key_id: is not a known field; did you mean keyId?'],
    [{ list: [], colour: 'red' }, 'colour: is not a known field'],
    [{ list: [], ['x'.repeat(300)]: 1 }, `${'x'.repeat(199)}…: is not a known field`],
  ])('includes the known name that an unknown one resembles: %#', (value, words) => {
    const problems = fieldsInWords(strict.optional(), value);
    expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([words]);
  });

  test.each([
    [z.object({ name: z.string() }), {}, 'is missing'],
    [schema, { name: 5 }, 'must be a string'],
    [schema, { name: 'a' }, 'must have at least 2 characters'],
    [schema, { name: 'abcd' }, 'must have at most 3 characters'],
    [schema, { count: '1' }, 'must be a number'],
    [schema, { count: 0.5 }, 'must be a whole number'],
    [schema, { count: -1 }, 'must be at least 0'],
    [schema, { count: 10 }, 'must be at most 9'],
    [schema, { kind: 'robot' }, 'must be one of widget, console'],
    [schema, { ok: false }, 'must be true'],
    [schema, { list: ['a', 'b'] }, 'must have at most 1 entry'],
    [schema, { list: 'a' }, 'must be an array'],
    [schema, { own: 5 }, 'says it by itself'],
  ])('is said in words: %#', (shape, value, words) => {
    expect(fieldsInWords(shape, value).map(({ message }) => message)).toEqual([words]);
  });
});

test('A request that was not answered in time is refused as if the service were away, and may be sent again', () => {
  const { status, headers, body } = faultReply(new ReplyDeadlineExceeded(15_000), 'req_1', true);
  expect(status).toBe(503);
  expect(headers).toContainEqual(['Retry-After', '2']);
  expect(JSON.parse(String(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 2 });
});
