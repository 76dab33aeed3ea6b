import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { createEvents } from '../../../src/telemetry/events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';

type Line = Readonly<Record<string, unknown>>;

function setUp() {
  const lines: Line[] = [];
  const log = createLog('info', false, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const metrics = new Metrics();
  let atMs = 0;
  const events = createEvents(log, metrics, () => atMs);
  const advance = (ms: number): void => {
    atMs += ms;
  };
  return { lines, metrics, events, advance };
}

test('A flood of refusals is counted in full, and fills no log', async () => {
  const { lines, metrics, events, advance } = setUp();
  for (let n = 0; n < 10_000; n += 1) events.refused('RATE_LIMIT_EXCEEDED', '/api/session', `req_${n}`, 'too many');
  expect(lines).toHaveLength(50);
  events.refused('FORBIDDEN', '/api/session', 'req_x', 'other refusals are still told');
  expect(lines).toHaveLength(51);
  advance(1000);
  events.refused('RATE_LIMIT_EXCEEDED', '/api/session', 'req_y', 'too many');
  events.refused('RATE_LIMIT_EXCEEDED', '/api/session', 'req_z', 'too many');
  expect(lines.slice(51)).toMatchObject([{ requestId: 'req_y', leftOut: 9950 }, { requestId: 'req_z' }]);
  expect(lines.at(-1)).not.toHaveProperty('leftOut');
  expect(await metrics.registry.metrics()).toContain('switchboard_refusals_total{code="RATE_LIMIT_EXCEEDED"} 10002');
});

test('A dependency that is away is counted in full, and fills no log', async () => {
  const { lines, metrics, events } = setUp();
  for (let n = 0; n < 1000; n += 1) events.faulted(new Unavailable('database'), `req_${n}`, '/api/auth/usage');
  expect(lines).toHaveLength(50);
  expect(lines[0]).toMatchObject({ event: 'dependency.away', dependency: 'database', requestId: 'req_0' });
  expect(await metrics.registry.metrics()).toContain('switchboard_dependency_faults_total{dependency="database"} 1000');
});

test('Every fault of our own is logged, because its caller was given the request id only', () => {
  const { lines, events } = setUp();
  for (let n = 0; n < 200; n += 1) events.faulted(new Error('a defect'), `req_${n}`, '/api/session');
  expect(lines).toHaveLength(200);
});

test('An address that a mail server repeats in its refusal is not logged', () => {
  const { lines, events } = setUp();
  const refusal = new Error('550 5.1.1 <ada@example.com>: Recipient address rejected: ada@example.com is unknown');
  events.warned('the mail server refuses a recipient', { err: refusal });
  events.faulted(new Unavailable('mail', new Error('450 4.2.2 <ada@example.com> mailbox full')), 'req_1', 'send');
  events.faulted(refusal, 'req_2', 'send');
  expect(JSON.stringify(lines)).not.toMatch(/ada@|@example/);
  expect(JSON.stringify(lines)).toContain('550 5.1.1');
});

const hash = '0123456789abcdef'.repeat(2);
const proof = `s:${hash}:abcdefghijklmnopqrstuv`;

test.each([
  proof,
  proof.slice(0, -1),
  encodeURIComponent(proof),
  encodeURIComponent(encodeURIComponent(proof)),
  proof.replace('s:', '%73%3A').replace('k', '%6B').replace('f', '%66'),
  proof.toUpperCase(),
])('The session id in %s is cut short in whatever is logged', (text) => {
  const { lines, events } = setUp();
  events.refused(
    'NOT_FOUND',
    'none',
    'req_1',
    `There is no /api/operator/session/${text}/end; see /docs for all paths.`,
  );
  events.faulted(new Unavailable('registry', new Error(`${text} changed too often`)), 'req_2', 'transport');
  events.faulted(new Error(text), 'req_3', text);
  events.warned(text, { path: `/${text}` });
  expect(lines).toHaveLength(4);
  expect(JSON.stringify(lines)).not.toMatch(/hijklmn|hij%6Blmn/i);
  expect(JSON.stringify(lines)).toMatch(/bcdefg…/i);
});

const ticket = 'ek_sb_Zm9yIG9uZSBjYWxsIG9ubHksIHRo-_IGl0IGlzIHNwZ';

test.each([
  ticket,
  ticket.slice(0, -1),
  ticket.replaceAll('_', '%5F').replace('Z', '%5A'),
  ticket.replace('ek_sb_', 'ek_local_'),
  ticket.replace('ek_sb_', 'ek_'),
])('The ticket or client secret in %s is left out of whatever is logged', (text) => {
  const { lines, events } = setUp();
  events.refused('NOT_FOUND', 'none', 'req_1', `There is no /api/realtime/calls/${text}; see /docs for all paths.`);
  events.faulted(new Error(text), 'req_2', text);
  events.warned(text, { path: `/${text}` });
  expect(lines).toHaveLength(3);
  expect(JSON.stringify(lines)).not.toMatch(/yIG9uZSBj|IGl0IG/);
  expect(lines[0]).toMatchObject({ error: 'There is no /api/realtime/calls/ek_…; see /docs for all paths.' });
});

test.each(['202e', '2066', '200f', '061c', '2028', '009b', '007f'])(
  'What a reader would not see in a text of a stranger is logged as its number: %s',
  (number) => {
    const { lines, events } = setUp();
    const path = `/a${String.fromCharCode(Number.parseInt(number, 16))}b`;
    events.refused('NOT_FOUND', 'none', 'req_1', `There is no ${path}; see /docs for all paths.`);
    expect(lines).toMatchObject([{ error: `There is no /a\\u${number}b; see /docs for all paths.` }]);
  },
);

test('A session is found in the log by the beginning of its id', () => {
  const { lines, events } = setUp();
  events.operatorActed('operator', 'session.end', proof.slice(0, 42), 'req_1');
  expect(lines).toMatchObject([{ target: `s:${hash}:abcdefg` }]);
});

test('An address that a caller puts where it does not belong is not logged', () => {
  const { lines, events } = setUp();
  for (const text of ['ada@example.com', 'ada%40example.com'])
    events.refused('NOT_FOUND', 'none', 'req_1', `There is no /api/auth/otp/${text}; see /docs for all paths.`);
  expect(lines).toMatchObject([
    { error: 'There is no /api/auth/otp/[address]; see /docs for all paths.' },
    { error: 'There is no /api/auth/otp/[address]; see /docs for all paths.' },
  ]);
});
