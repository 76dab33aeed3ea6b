import { BlockList } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { holds, isPublicAddress } from '../../../src/outbound/addresses.ts';
import { OutboundFailure, type Outbound, type OutboundRequest } from '../../../src/outbound/contract.ts';
import { createOutbound, type OutboundOptions } from '../../../src/outbound/outbound.ts';
import { findUrlFault } from '../../../src/kernel/addresses.ts';
import { ManualClock, SECOND } from '../../support/clock.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { soon } from '../../support/soon.ts';
import { makeCertificate, ToolServer } from '../../support/tool-server.ts';

const certificate = makeCertificate();
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function startServer(tls = false): Promise<ToolServer> {
  const server = await ToolServer.start(tls ? certificate : undefined);
  closing.push(() => server.close());
  return server;
}

function networks(...cidrs: string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

const clock = new ManualClock();
const loopback = networks('127.0.0.0/8');

function make(options: Partial<OutboundOptions> = {}): { outbound: Outbound; timers: ManualTimers } {
  const timers = new ManualTimers();
  const outbound = createOutbound({
    allowCidrs: loopback,
    allowPorts: [],
    clock,
    after: timers.after,
    resolve: async () => ['127.0.0.1'],
    ca: certificate.cert,
    ...options,
  });
  closing.push(() => outbound.close());
  return { outbound, timers };
}

function asking(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  const usual = {
    method: 'POST',
    owner: 'acme',
    session: 'visitor',
    headers: {},
    body: '{}',
    timeoutMs: 8000,
    maxReplyBytes: 16_384,
  } as const;
  return { ...usual, url: new URL(url), ...more };
}

/** The outcome of a request: status and text of the reply, or the kind of failure. */
async function outcome(outbound: Outbound, request: OutboundRequest): Promise<string> {
  try {
    const { status, body } = await outbound.request(request);
    return `${status} ${body.toString()}`;
  } catch (error) {
    if (error instanceof OutboundFailure) return error.kind;
    throw error;
  }
}

describe('Addresses', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.8.9.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%lo',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])('that are not of the public internet are refused: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
    '2001:4860:4860::8888',
  ])('of the public internet are allowed: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  test('of own networks are found also where IPv4 is written as IPv6', () => {
    const own = networks('10.0.0.0/8', 'fd00::/8');
    const held = ['10.2.3.4', '::ffff:10.2.3.4', 'fd01::1'].map((address) => holds(own, address));
    const others = ['11.2.3.4', '::ffff:11.2.3.4', 'fc01::1', 'x', ''].map((address) => holds(own, address));
    expect([held, others]).toEqual([Array(3).fill(true), Array(5).fill(false)]);
  });
});

describe('The address of a server', () => {
  const usual = { ports: [8443], hasOwnNetworks: false };

  test.each(['https://api.example.com/x', 'https://api.example.com:443', 'https://api.example.com:8443/?q=1'])(
    'may be %s',
    (url) => {
      expect(findUrlFault(url, usual)).toBeUndefined();
    },
  );

  test.each([
    ['nowhere', 'must be an address such as https://api.example.com/lookup'],
    ['ftp://api.example.com', 'must start with https://'],
    ['http://api.example.com', 'must start with https:// (http:// needs OUTBOUND_ALLOW_CIDRS)'],
    ['https://user:password@api.example.com', 'must hold no user or password: use a header and a secret'],
    ['https://api.example.com:22', 'has the port 22, which is not in OUTBOUND_ALLOW_PORTS'],
    ['https://127.0.0.1/', 'must have a name, not an IP address'],
    ['https://2130706433/', 'must have a name, not an IP address'],
    ['https://0x7f000001/', 'must have a name, not an IP address'],
    ['https://0177.0.0.1/', 'must have a name, not an IP address'],
    ['https://127.1/', 'must have a name, not an IP address'],
    ['https://127.0.0.1./', 'must have a name, not an IP address'],
    ['https://[::1]/', 'must have a name, not an IP address'],
    ['https://[::ffff:127.0.0.1]/', 'must have a name, not an IP address'],
    ['https://１２７.0.0.1/', 'must have a name, not an IP address'],
  ])('may not be %s', (url, words) => {
    expect(findUrlFault(url, usual)).toBe(words);
  });

  test('may have http and any port only where there are own networks, and never a literal', () => {
    const own = { ports: [], hasOwnNetworks: true };
    expect(['http://tools.intra:9000/', 'https://tools.intra:9000/'].map((url) => findUrlFault(url, own))).toEqual([
      undefined,
      undefined,
    ]);
    expect(findUrlFault('http://10.0.0.1/', own)).toBe('must have a name, not an IP address');
  });
});

describe('A request', () => {
  test('reaches the server over TLS, by its name, with its headers and its body', async () => {
    const server = await startServer(true);
    const { outbound } = make();
    const request = asking(`https://tools.test:${server.port}/a?b=1`, { headers: { 'x-one': '1' }, body: '{"ü":1}' });
    expect(await outcome(outbound, request)).toBe('200 {"ok":true}');
    expect(server.requests).toMatchObject([
      { method: 'POST', url: '/a?b=1', body: '{"ü":1}', headers: { 'x-one': '1', host: `tools.test:${server.port}` } },
    ]);
  });

  test('is refused by a server whose certificate is of another name or authority', async () => {
    const server = await startServer(true);
    const other = make().outbound;
    expect(await outcome(other, asking(`https://other.test:${server.port}/`))).toBe('unreachable');
    const stranger = make({ ca: makeCertificate().cert }).outbound;
    expect(await outcome(stranger, asking(`https://tools.test:${server.port}/`))).toBe('unreachable');
    expect(server.requests).toEqual([]);
  });

  test('goes nowhere when any address of its name is forbidden', async () => {
    const server = await startServer();
    const { outbound } = make({ resolve: async () => ['127.0.0.1', '169.254.169.254'] });
    expect(await outcome(outbound, asking(`http://tools.test:${server.port}/`))).toBe('forbidden');
    const mapped = make({
      allowCidrs: new BlockList(),
      allowPorts: [server.port],
      resolve: async () => ['::ffff:127.0.0.1'],
    });
    expect(await outcome(mapped.outbound, asking(`https://tools.test:${server.port}/`))).toBe('forbidden');
    const nat64 = make({ allowPorts: [server.port], resolve: async () => ['64:ff9b::7f00:1'] });
    expect(await outcome(nat64.outbound, asking(`https://tools.test:${server.port}/`))).toBe('forbidden');
    expect(server.connections).toBe(0);
  });

  test('goes over http, or to an unusual port, only to own networks', async () => {
    const { outbound } = make({ resolve: async () => ['93.184.216.34'] });
    expect(await outcome(outbound, asking('http://tools.test/'))).toBe('forbidden');
    expect(await outcome(outbound, asking('https://tools.test:25/'))).toBe('forbidden');
  });

  test('goes to the address that was vetted, although its name leads elsewhere a moment later', async () => {
    const [vetted, inner] = [await startServer(), await startServer()];
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const { outbound } = make({ resolve: async () => answers[Math.min(asked++, 1)] ?? [] });
    expect(await outcome(outbound, asking(`http://rebinding.test:${vetted.port}/`))).toBe('200 {"ok":true}');
    expect(await outcome(outbound, asking(`http://rebinding.test:${vetted.port}/`))).toBe('200 {"ok":true}');
    expect(asked).toBe(1);
    clock.advance(5 * SECOND);
    expect(await outcome(outbound, asking(`http://rebinding.test:${vetted.port}/`))).toBe('forbidden');
    expect([vetted.requests.length, inner.connections]).toEqual([2, 0]);
  });

  test('asks again for a name that had no address', async () => {
    const server = await startServer();
    const answers = [[], ['127.0.0.1']];
    const { outbound } = make({ resolve: async () => answers.shift() ?? [] });
    expect(await outcome(outbound, asking(`http://new.test:${server.port}/`))).toBe('unreachable');
    expect(await outcome(outbound, asking(`http://new.test:${server.port}/`))).toBe('200 {"ok":true}');
  });

  test('resolves names by the system where no resolver is given', async () => {
    const server = await startServer();
    const { outbound } = make({ resolve: undefined, allowCidrs: networks('127.0.0.0/8', '::1/128') });
    expect(await outcome(outbound, asking(`http://localhost:${server.port}/`))).toBe('200 {"ok":true}');
    expect(await outcome(outbound, asking('http://nowhere.invalid/'))).toBe('unreachable');
    const strict = make({ resolve: undefined, allowCidrs: new BlockList(), allowPorts: [server.port] });
    expect(await outcome(strict.outbound, asking(`https://localhost:${server.port}/`))).toBe('forbidden');
  });

  test('follows no redirect', async () => {
    const [server, inner] = [await startServer(), await startServer()];
    server.mode = 'redirect';
    server.location = `http://127.0.0.1:${inner.port}/`;
    expect(await outcome(make().outbound, asking(`http://tools.test:${server.port}/`))).toBe('307 ');
    expect(inner.connections).toBe(0);
  });

  test('reads no more of the reply than was asked for, whether its length is told or not', async () => {
    const server = await startServer();
    const { outbound } = make();
    server.mode = { body: Buffer.alloc(1_000_000, 'x') };
    expect(await outcome(outbound, asking(`http://tools.test:${server.port}/`))).toBe('too_large');
    server.mode = 'endless';
    expect(await outcome(outbound, asking(`http://tools.test:${server.port}/`))).toBe('too_large');
    server.mode = { body: 'y'.repeat(16_384) };
    expect(await outcome(outbound, asking(`http://tools.test:${server.port}/`))).toBe(`200 ${'y'.repeat(16_384)}`);
  });

  test('is over when its time is, also while the name is not resolved', async () => {
    const server = await startServer();
    server.mode = 'hang';
    const { outbound, timers } = make();
    const hanging = outcome(outbound, asking(`http://tools.test:${server.port}/`));
    await vi.waitFor(() => expect(server.requests.length).toBe(1), soon);
    timers.advance(7999);
    timers.advance(1);
    expect(await hanging).toBe('timed_out');
    const unresolved = make({ resolve: () => new Promise(() => undefined) });
    const waiting = outcome(unresolved.outbound, asking(`http://tools.test:${server.port}/`));
    unresolved.timers.advance(8000);
    expect(await waiting).toBe('timed_out');
    expect([timers.size, unresolved.timers.size]).toEqual([0, 0]);
  });

  test('is over when its caller gives up, and counts as no failure', async () => {
    const server = await startServer();
    server.mode = 'hang';
    const { outbound } = make();
    for (let tried = 1; tried <= 6; tried += 1) {
      const caller = new AbortController();
      const hanging = outcome(outbound, asking(`http://tools.test:${server.port}/`, { signal: caller.signal }));
      await vi.waitFor(() => expect(server.requests.length).toBe(tried), soon);
      caller.abort();
      expect(await hanging).toBe('aborted');
    }
    expect(await outcome(outbound, asking(`http://tools.test:${server.port}/`, { signal: AbortSignal.abort() }))).toBe(
      'aborted',
    );
  });

  test('says unreachable when the connection breaks or nobody listens', async () => {
    const server = await startServer();
    server.mode = 'reset';
    const { outbound } = make();
    expect(await outcome(outbound, asking(`http://tools.test:${server.port}/`))).toBe('unreachable');
    const { port } = server;
    await closing.shift()?.();
    closing.unshift(() => undefined);
    expect(await outcome(outbound, asking(`http://tools.test:${port}/`))).toBe('unreachable');
  });
});

describe('Many requests', () => {
  const sessionOf = (n: number): string => `visitor${Math.floor(n / 4)}`;

  test('of one owner to one host are at most 50 at once, none of which waits for a connection; others go on', async () => {
    const [server, other] = [await startServer(), await startServer()];
    server.mode = 'hang';
    const { outbound, timers } = make();
    const url = `http://tools.test:${server.port}/`;
    const hanging = Array.from({ length: 50 }, (_, n) => outcome(outbound, asking(url, { session: sessionOf(n) })));
    await vi.waitFor(() => expect(server.requests.length).toBe(50), soon);
    expect(await outcome(outbound, asking(url, { session: 'one more' }))).toBe('too_many');
    expect(await outcome(outbound, asking(`http://other.test:${other.port}/`))).toBe('200 {"ok":true}');
    timers.advance(8000);
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['timed_out']));
  });

  test('of one session to one host are at most 4 at once, so that others are answered', async () => {
    const server = await startServer();
    server.mode = 'hang';
    const { outbound, timers } = make();
    const url = `http://tools.test:${server.port}/`;
    const hanging = Array.from({ length: 4 }, () => outcome(outbound, asking(url)));
    await vi.waitFor(() => expect(server.requests.length).toBe(4), soon);
    expect(await outcome(outbound, asking(url))).toBe('too_many');
    server.mode = { body: 'here' };
    expect(await outcome(outbound, asking(url, { session: 'another' }))).toBe('200 here');
    timers.advance(8000);
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['timed_out']));
    expect(await outcome(outbound, asking(url))).toBe('200 here');
  });

  test('of a process are at most 200 at once', async () => {
    const never = new Promise<never>(() => undefined);
    const { outbound, timers } = make({ resolve: () => never });
    const waiting = [1, 2, 3, 4].flatMap((host) =>
      Array.from({ length: 50 }, (_, n) =>
        outcome(outbound, asking(`http://host${host}.test/`, { session: sessionOf(n) })),
      ),
    );
    expect(await outcome(outbound, asking('http://host5.test/'))).toBe('too_many');
    timers.advance(8000);
    await Promise.all(waiting);
    const again = outcome(outbound, asking('http://host5.test/'));
    timers.advance(8000);
    expect(await again).toBe('timed_out');
  });
});

describe('A host that failed five times in a row', () => {
  const url = (server: ToolServer): string => `http://tools.test:${server.port}/`;

  test('is tried once in ten seconds, for its owner, until it answers', async () => {
    const server = await startServer();
    server.mode = 'reset';
    const { outbound } = make();
    let sessions = 0;
    const ask = (owner = 'acme'): Promise<string> =>
      outcome(outbound, asking(url(server), { owner, session: `visitor${(sessions += 1)}` }));
    for (let tried = 0; tried < 5; tried += 1) expect(await ask()).toBe('unreachable');
    server.mode = { body: 'back' };
    const before = server.requests.length;
    expect(await ask()).toBe('unreachable');
    expect(server.requests.length).toBe(before);
    expect(await ask('another')).toBe('200 back');
    clock.advance(10 * SECOND);
    server.mode = 'reset';
    expect([await ask(), await ask()]).toEqual(['unreachable', 'unreachable']);
    expect(server.requests.length).toBe(before + 2);
    clock.advance(10 * SECOND);
    server.mode = { body: 'back' };
    expect([await ask(), await ask()]).toEqual(['200 back', '200 back']);
  });

  test('is tried at once where the clock was set back since', async () => {
    const server = await startServer();
    server.mode = 'reset';
    const { outbound } = make();
    const ask = (session: string): Promise<string> => outcome(outbound, asking(url(server), { session }));
    for (let n = 0; n < 5; n += 1) await ask(`visitor${n}`);
    clock.advance(-SECOND);
    server.mode = { body: 'back' };
    expect(await ask('a')).toBe('200 back');
  });

  test('for one session alone is not tried for that one, and others are answered', async () => {
    const server = await startServer();
    const { outbound } = make();
    const ask = (session: string): Promise<string> => outcome(outbound, asking(url(server), { session }));
    server.mode = 'reset';
    for (let tried = 0; tried < 9; tried += 1) expect(await ask('hostile')).toBe('unreachable');
    expect(server.requests.length).toBe(5);
    server.mode = { body: 'here' };
    expect(await ask('another')).toBe('200 here');
  });
});
