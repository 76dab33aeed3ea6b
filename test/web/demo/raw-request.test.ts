import { describe, expect, test } from 'vitest';
import { readRawRequest } from '../../../src/web/demo/raw-request.ts';

describe('A request written by hand', () => {
  test('has a method, a path, headers and a body, which may have empty lines', () => {
    const text = 'post /api/session?x=1 HTTP/1.1\r\nContent-Type: application/json\r\nX-A:  b: c \r\n\r\n{\r\n\r\n}';
    expect(readRawRequest(text)).toEqual({
      method: 'POST',
      path: '/api/session?x=1',
      headers: [
        ['Content-Type', 'application/json'],
        ['X-A', 'b: c '],
      ],
      body: '{\n\n}',
    });
  });

  test('may consist of its first line only', () => {
    expect(readRawRequest('\nGET /healthz\n\n')).toEqual({
      method: 'GET',
      path: '/healthz',
      headers: [],
      body: undefined,
    });
  });

  test.each([
    ['', 'The first line'],
    ['GET', 'The first line'],
    ['GET https://stranger.example/', 'a path of this server'],
    ['GET /a\nno colon', 'A header is a name, a colon and a value: no colon'],
    ['GET /a\nX Y: 1', 'A header is'],
  ])('that is invalid is reported as such: %j', (text, message) => {
    expect(() => readRawRequest(text)).toThrow(message);
  });
});
