import { expect, test } from 'vitest';
import { faultReply } from '../../src/http/refusals.ts';
import { ReplyDeadlineExceeded } from '../../src/kernel/errors.ts';

test('A request that was not answered in time is refused as if the service were away, and may be sent again', () => {
  const { status, headers, body } = faultReply(new ReplyDeadlineExceeded(15_000), 'req_1', true);
  expect(status).toBe(503);
  expect(headers).toContainEqual(['Retry-After', '2']);
  expect(JSON.parse(String(body))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfter: 2 });
});
