import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../../src/bots/contract.ts';
import { heuristicDetector, selectDetector } from '../../../src/bots/detectors.ts';
import { isBlocked } from '../../../src/sessions/create/admit-caller.ts';

const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

function evidence(headers: Evidence['headers']): Evidence {
  return { ip: '203.0.113.7', headers, path: '/api/session', method: 'POST', requestId: 'req_1' };
}

describe('The heuristic', () => {
  test.each([
    safari,
    chrome,
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
    'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/88.0.4324.93 Mobile Safari/537.36',
  ])('admits a browser: %s', (userAgent) => {
    expect(heuristicDetector.assess(evidence({ 'user-agent': userAgent }))).toMatchObject({
      isBot: false,
      provider: 'heuristic',
    });
  });

  test.each([
    'curl/8.5.0',
    'python-requests/2.32.3',
    'Go-http-client/2.0',
    'node',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  ])('recognizes an automation tool or crawler, verifies none, and says why: %s', (userAgent) => {
    const verdict = heuristicDetector.assess(evidence({ 'user-agent': userAgent }));
    expect(verdict).toMatchObject({ isBot: true, isVerifiedBot: false });
    expect(verdict.reason).toMatch(/^User-Agent matches "/);
  });

  test.each([undefined, '', '   '])('takes a caller with the User-Agent %j for a bot', (userAgent) => {
    expect(heuristicDetector.assess(evidence({ 'user-agent': userAgent }))).toMatchObject({
      isBot: true,
      reason: 'no User-Agent',
    });
  });

  test('recognizes a headless Chrome behind an ordinary User-Agent', () => {
    const headers = { 'user-agent': chrome, 'sec-ch-ua': '"HeadlessChrome";v="126", "Chromium";v="126"' };
    expect(heuristicDetector.assess(evidence(headers))).toMatchObject({ isBot: true });
  });
});

test.each([
  [{ isBot: false, isVerifiedBot: false }, false],
  [{ isBot: true, isVerifiedBot: false }, true],
  [{ isBot: true, isVerifiedBot: true }, false],
  [{ isBot: false, isVerifiedBot: true }, false],
])('A caller with the verdict %j is blocked: %j', (verdict, blocked) => {
  expect(isBlocked(verdict)).toBe(blocked);
});

test('Without a detector everybody is admitted, even curl', async () => {
  const verdict = await selectDetector({ provider: 'none' }).assess(evidence({ 'user-agent': 'curl/8.5.0' }));
  expect(verdict).toEqual({ isBot: false, isVerifiedBot: false, confidence: 0, provider: 'none' });
});

test('The http detector without an address is refused when it is chosen', () => {
  expect(() => selectDetector({ provider: 'http' })).toThrow(/address/);
  expect(selectDetector({ provider: 'heuristic' })).toBe(heuristicDetector);
});
