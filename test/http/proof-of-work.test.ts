import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AltchaChallenge } from '../../src/protocol/challenge.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { findNumber } from '../../src/web/element/challenge/find-number.ts';
import type { Reply, TestApp } from '../support/app.ts';
import { MINUTE, SECOND } from '../support/clock.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf } from './app.ts';

const { build } = useApps();

const program = { 'user-agent': 'curl/8.5.0' };
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
const blocked = { status: 403, code: 'BOT_BLOCKED' };

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ env: { BOT_PROVIDER: 'altcha' } });
  key = await app.key();
});
afterEach(() => expect(app.faults).toEqual([]));

function ask(of: WidgetKey = key, headers: Readonly<Record<string, string>> = browser): Promise<Reply> {
  return app.get(`/api/realtime/challenge?widgetKey=${of.key}`, { origin: of.origin, ...headers });
}

interface Solution extends Omit<AltchaChallenge, 'maxnumber'> {
  readonly number: number;
}

/** Asks for a challenge and solves it, as a page does. */
async function solve(of: WidgetKey = key): Promise<Solution> {
  const { maxnumber, ...set } = (await ask(of)).body as unknown as AltchaChallenge;
  const number = findNumber(set.salt, set.challenge, 0, maxnumber);
  if (number === undefined) throw new Error('there is no such number');
  return { ...set, number };
}

const tokenOf = (solution: object): string => Buffer.from(JSON.stringify(solution)).toString('base64');

function create(token: string, at: TestApp = app, of: WidgetKey = key): Promise<Reply> {
  return at.create(of, {}, { ...program, 'x-switchboard-challenge': token });
}

test('A page whose create is refused gets a proof of work from Switchboard alone, and opens a session with its solution', async () => {
  const refused = await app.create(key, {}, program);
  expect(errorOf(refused)).toEqual(blocked);
  const data = expect.stringMatching(/^[\w-]{22}$/) as string;
  expect(refused.body['challenge']).toEqual({ provider: 'altcha', action: 'voice_session', data });
  const reply = await ask();
  expect(reply).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'no-store', 'access-control-allow-origin': key.origin },
  });
  expect(reply.body).toEqual({
    algorithm: 'SHA-256',
    challenge: expect.stringMatching(/^[0-9a-f]{64}$/),
    maxnumber: 250_000,
    salt: expect.stringMatching(/^[\w-]{22}\.[\w-]{16}\?expires=\d+&$/),
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const solution = await solve();
  expect(solution.challenge).toBe(createHash('sha256').update(`${solution.salt}${solution.number}`).digest('hex'));
  expect((await create(tokenOf({ ...solution, took: 812 }))).status).toBe(200);
});

test('A solution counts once, even on two nodes at the same time and however it is written', async () => {
  const second = await build({ env: { BOT_PROVIDER: 'altcha' } });
  const solution = await solve();
  const token = tokenOf(solution);
  const again = tokenOf({ took: 1, ...solution });
  const replies = await Promise.all([
    create(token),
    create(again, second),
    create(`${token}\n`),
    create(` ${again}`, second),
  ]);
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 403, 403, 403]);
  expect(errorOf(await create(again, second))).toEqual(blocked);
});

test('A solution is valid for five minutes', async () => {
  const [early, late] = [await solve(), await solve()];
  app.clock.advance(5 * MINUTE);
  expect((await create(tokenOf(early))).status).toBe(200);
  app.clock.advance(SECOND);
  expect(errorOf(await create(tokenOf(late)))).toEqual(blocked);
});

test('A solution for another key is invalid, even on the same origin', async () => {
  const other = await app.key({ origin: key.origin });
  expect(errorOf(await create(tokenOf(await solve(other))))).toEqual(blocked);
});

test('Nobody can make a challenge of their own, or alter one of ours', async () => {
  const solution = await solve();
  const { salt, number } = solution;
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
  const later = salt.replace(/expires=\d+/, 'expires=9999999999');
  const forged: readonly object[] = [
    { ...solution, number: number + 1 },
    { ...solution, number: -1 },
    { ...solution, number: 1e300 },
    { ...solution, algorithm: 'SHA-1' },
    { ...solution, salt: later },
    { ...solution, salt: later, challenge: hash(`${later}${number}`) },
    // Moving digits from the number to the salt leaves the hash the same.
    { ...solution, salt: `${salt}${String(number).slice(0, 1)}`, number: Number(String(number).slice(1)) },
    { ...solution, signature: hash('a guess') },
    { ...solution, signature: solution.signature.toUpperCase() },
    { ...solution, signature: [solution.signature] },
    [],
  ];
  const texts = ['', 'null', '{}', 'not json', '\u0000', 'x'.repeat(10_000)];
  for (const token of [...forged.map(tokenOf), ...texts, ...texts.map((text) => Buffer.from(text).toString('base64'))])
    expect(errorOf(await create(token))).toEqual(blocked);
  expect((await create(tokenOf(solution))).status).toBe(200);
});

test('Challenges are given only to the origin of an existing key whose challenges are ours', async () => {
  expect((await ask({ ...key, origin: 'https://evil.example' })).body['code']).toBe('ORIGIN_MISMATCH');
  expect((await ask({ ...key, key: 'w_nobody' })).body['code']).toBe('INVALID_WIDGET_KEY');
  expect((await ask(await app.key({ revokedAtMs: 1 }))).body['code']).toBe('INVALID_WIDGET_KEY');
  expect((await app.get(`/api/realtime/challenge?widgetKey=${key.key}`)).status).toBe(200);
  expect((await app.get('/api/realtime/challenge')).body['code']).toBe('INVALID_REQUEST');
  app = await build({ env: { BOT_PROVIDER: 'heuristic' } });
  const other = await ask();
  expect([other.status, other.body['code'], other.headers['cache-control']]).toEqual([404, 'NOT_FOUND', 'no-store']);
});

test('The solver finds the number for salts of every length', () => {
  for (let length = 0; length < 140; length += 1) {
    const salt = 'a'.repeat(length);
    const challenge = createHash('sha256').update(`${salt}1234`).digest('hex');
    expect(findNumber(salt, challenge, 1200, 1300)).toBe(1234);
    expect(findNumber(salt, challenge, 0, 9)).toBeUndefined();
  }
});
