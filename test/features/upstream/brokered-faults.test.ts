import { afterEach, describe, expect, test } from 'vitest';
import { CallOver, UnansweredCall, UpstreamFault } from '../../../src/upstream/contract.ts';
import { OpenAiProvider } from '../../../src/upstream/openai.ts';
import { TestProvider, type ProviderMode } from '../../support/provider.ts';
import type { TestCall } from '../../support/provider/call.ts';
import type { AttachMode, CreateMode, HangupMode } from '../../support/provider/calls.ts';
import { allProviders, realtimeProviders, StandInBench } from './benches.ts';
import { callRequest, faultOf, noAbort, setup } from './brokered-suite.ts';
import { Heard } from './heard.ts';

let bench: StandInBench;

afterEach(() => bench.close());

/** Everything that a careless log call could print about the fault. */
function printed(fault: UpstreamFault): string {
  return [fault.stack, JSON.stringify(fault), JSON.stringify(fault.facts), String(fault.cause)].join('\n');
}
const secret = /ek_|sk-test|rtc_u|live_u|v=0|http:|ws:/;

describe.each(Object.keys(allProviders))('A call that is created at %s', (name) => {
  test.each<[ProviderMode, object]>([
    ['invalid key', { kind: 'refused', facts: { status: 401, code: 'invalid_api_key' } }],
    ['rate limited', { kind: 'refused', facts: { status: 429, code: 'rate_limit_exceeded' } }],
    ['broken', { kind: 'refused', facts: { status: 500, type: 'server_error' } }],
    ['redirect', { kind: 'refused', facts: { status: 307 } }],
    ['garbage', { kind: 'malformed' }],
    ['huge', { kind: 'malformed' }],
    ['reset', { kind: 'unreachable' }],
  ])('in mode "%s" fails in our words, and is not tried again', async (mode, expected) => {
    bench = await StandInBench.open(name);
    bench.standIn.mode = mode;
    const fault = await faultOf(bench.create());
    expect(fault).toMatchObject(expected);
    expect(printed(fault)).not.toMatch(secret);
    expect(bench.standIn.requests).toHaveLength(1);
  });

  test('while the provider hangs ends at its deadline', async () => {
    bench = await StandInBench.open(name, 100);
    bench.standIn.mode = 'hang';
    expect(await faultOf(bench.create())).toMatchObject({ kind: 'timeout' });
  });

  test('whose reply is lost fails, though it exists', async () => {
    bench = await StandInBench.open(name);
    bench.standIn.calls.createMode = 'reply lost';
    const fault = await faultOf(bench.create());
    expect(fault).toMatchObject({ kind: 'unreachable' });
    expect(bench.standIn.calls.all).toHaveLength(1);
  });

  test.each<CreateMode>(['location missing', 'location strange'])('with its %s is malformed', async (mode) => {
    bench = await StandInBench.open(name);
    bench.standIn.calls.createMode = mode;
    const fault = await faultOf(bench.create());
    expect(fault).toMatchObject({ kind: 'malformed' });
    expect(printed(fault)).not.toMatch(secret);
  });

  test('from an offer that the provider does not like blames the request', async () => {
    bench = await StandInBench.open(name);
    const fault = await faultOf(bench.provider.createCall(callRequest('v=1')));
    expect(fault).toMatchObject({ kind: 'refused', blamesRequest: true, facts: { code: 'invalid_offer' } });
  });
});

describe.each(Object.keys(realtimeProviders))('The address of a call at %s', (name) => {
  test.each<CreateMode>(['location absolute', 'location elsewhere in the path', 'location as query'])(
    'may be a %s',
    async (mode) => {
      bench = await StandInBench.open(name);
      bench.standIn.calls.createMode = mode;
      const { providerCallId } = await bench.provider.createCall(callRequest(bench.offerSdp));
      expect(providerCallId).toBe(bench.standIn.lastCall.id);
    },
  );

  test('elsewhere is not believed', async () => {
    bench = await StandInBench.open(name);
    bench.standIn.calls.createMode = 'location foreign';
    expect(await faultOf(bench.create())).toMatchObject({ kind: 'malformed', facts: { detail: 'location' } });
  });

  test('is read where the answer is none that may be given, so that the call can be hung up', async () => {
    bench = await StandInBench.open(name);
    for (const mode of ['answer with video', 'no answer'] as const) {
      bench.standIn.calls.createMode = mode;
      const { providerCallId, answerSdp } = await bench.provider.createCall(callRequest(bench.offerSdp));
      expect(providerCallId).toBe(bench.standIn.lastCall.id);
      expect(answerSdp.includes('m=video')).toBe(mode === 'answer with video');
    }
  });
});

test.each<[string, CreateMode, object]>([
  ['openai', 'answer cut off', { kind: 'unreachable' }],
  ['azure', 'answer cut off', { kind: 'unreachable' }],
  ['openai-live', 'no answer', { kind: 'malformed' }],
])(
  'A call of %s that is named and not answered (%s) can be hung up, and its name is in no log',
  async (name, mode, expected) => {
    bench = await StandInBench.open(name);
    bench.standIn.calls.createMode = mode;
    const fault = await faultOf(bench.create());
    expect(fault).toBeInstanceOf(UnansweredCall);
    expect(fault).toMatchObject(expected);
    expect((fault as UnansweredCall).providerCallId).toBe(bench.standIn.lastCall.id);
    expect(printed(fault)).not.toMatch(secret);
  },
);

test.each<[string | undefined, number]>([
  [undefined, 1],
  ['7', 7],
  ['2.2', 3],
  ['0', 1],
  ['soon', 1],
  ['86400', 3600],
  [new Date(0).toUTCString(), 1],
])(
  'A provider that takes no more requests and says Retry-After: %s is waited for %i s',
  async (retryAfter, seconds) => {
    bench = await StandInBench.open('openai');
    const call = await bench.create();
    bench.standIn.retryAfter = retryAfter;
    bench.standIn.calls.attachMode = 'rate limited';
    expect((await faultOf(bench.attach(call))).retryAfterSec).toBe(seconds);
    bench.standIn.calls.createMode = 'rate limited';
    expect((await faultOf(bench.create())).retryAfterSec).toBe(seconds);
    bench.standIn.mode = 'rate limited';
    expect((await faultOf(bench.provider.mint(callRequest(bench.offerSdp)))).retryAfterSec).toBe(seconds);
  },
);

test('No waiting mends that what was paid for is used up, nor what is no 429', () => {
  const of = (facts: UpstreamFault['facts']) => new UpstreamFault('refused', 'no', facts).retryAfterSec;
  expect(of({ status: 429, retryAfterSec: 5 })).toBe(5);
  expect(of({ status: 429, retryAfterSec: 5, code: 'insufficient_quota' })).toBeUndefined();
  expect(of({ status: 500 })).toBeUndefined();
});

describe.each(Object.keys(realtimeProviders))('A hang-up at %s', (name) => {
  test.each<HangupMode>(['bad request', 'not found', 'not found by name', 'gone'])(
    'answered by "%s" finds the call over',
    async (mode) => {
      bench = await StandInBench.open(name);
      const call = await bench.create();
      bench.standIn.calls.hangupMode = mode;
      expect(await bench.hangUp(call)).toBe('already_over');
    },
  );

  test.each<[HangupMode, object]>([
    ['page not found', { kind: 'refused', facts: { status: 404 } }],
    ['path not found', { kind: 'refused', facts: { status: 404 } }],
    ['something not found', { kind: 'refused', facts: { status: 404 } }],
    ['rate limited', { kind: 'refused', facts: { status: 429 } }],
    ['broken', { kind: 'refused', facts: { status: 500 } }],
    ['reset', { kind: 'unreachable' }],
  ])('answered by "%s" fails, in our words', async (mode, expected) => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.hangupMode = mode;
    const fault = await faultOf(bench.hangUp(call));
    expect(fault).toMatchObject(expected);
    expect(printed(fault)).not.toMatch(secret);
    expect(call.ended).toBeUndefined();
  });

  test('that is not answered ends at its deadline', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.hangupMode = 'hang';
    expect(await faultOf(bench.withTimeout(100).hangUp(call))).toMatchObject({ kind: 'timeout' });
  });
});

describe.each(Object.keys(allProviders))('Attaching at %s', (name) => {
  test.each<[AttachMode, object]>([
    ['page not found', { kind: 'refused', facts: { status: 404 } }],
    ['path not found', { kind: 'refused', facts: { status: 404 } }],
    ['something not found', { kind: 'refused', facts: { status: 404 } }],
    ['unauthorized', { kind: 'refused', facts: { status: 401, code: 'invalid_api_key' } }],
    ['rate limited', { kind: 'refused', facts: { status: 429, code: 'rate_limit_exceeded' } }],
    ['broken', { kind: 'refused', facts: { status: 500 } }],
  ])('answered by "%s" fails, in our words', async (mode, expected) => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.attachMode = mode;
    const fault = await faultOf(bench.attach(call));
    expect(fault).toMatchObject(expected);
    expect(printed(fault)).not.toMatch(secret);
    expect(bench.timers.size).toBe(0);
  });

  test.each<AttachMode>(['not found', 'not found by name'])('answered by "%s" finds the call over', async (mode) => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.attachMode = mode;
    await expect(bench.attach(call)).rejects.toBeInstanceOf(CallOver);
    expect(await bench.provider.isKnown(call.id, noAbort())).toBe(false);
  });

  test('tells whether the provider knows the call, and leaves nothing open', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    expect(await bench.provider.isKnown(call.id, noAbort())).toBe(true);
    await expect.poll(() => call.sidebands.size).toBe(0);
    bench.standIn.calls.attachMode = 'page not found';
    expect(await faultOf(bench.provider.isKnown(call.id, noAbort()))).toMatchObject({ kind: 'refused' });
    call.end('hangup');
    bench.standIn.calls.attachMode = 'ok';
    expect(await bench.provider.isKnown(call.id, noAbort())).toBe(false);
  });

  test('that is not answered ends at its deadline', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'never';
    const fault = faultOf(bench.attach(call));
    bench.timers.advance(10_000);
    expect(await fault).toMatchObject({ kind: 'timeout' });
  });

  test('is given up with its caller, while the upgrade hangs', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'never';
    const caller = new AbortController();
    const fault = faultOf(bench.attach(call, new Heard(), caller.signal));
    caller.abort();
    expect(await fault).toMatchObject({ kind: 'timeout' });
    expect(bench.timers.size).toBe(0);
  });

  test('where nobody listens is unreachable', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    await bench.standIn.close();
    expect(await faultOf(bench.attach(call))).toMatchObject({ kind: 'unreachable', facts: { detail: 'ECONNREFUSED' } });
    bench = await StandInBench.open(name);
  });

  test('is possible for several connections, which hear the same', async () => {
    bench = await StandInBench.open(name);
    const { call, heard } = await bench.listen();
    const second = new Heard();
    await bench.attach(call, second);
    expect(call.attached).toBe(2);
    call.emitRaw('garbage');
    await Promise.all([heard.next('trouble'), second.next('trouble')]);
  });
});

describe.each(Object.keys(realtimeProviders))('A connection at %s', (name) => {
  test('that never confirms an update is given up, and closed', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'no update';
    const heard = new Heard();
    const fault = faultOf(bench.attach(call, heard));
    await expect.poll(() => call.heard.length).toBe(1);
    bench.timers.advance(10_000);
    expect(await fault).toMatchObject({ kind: 'timeout' });
    expect(heard.events).toEqual([]);
    await expect.poll(() => call.sidebands.size).toBe(0);
    expect(bench.timers.size).toBe(0);
  });

  test('that is closed before it confirms an update is unreachable', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'no update';
    const fault = faultOf(bench.attach(call));
    await expect.poll(() => call.heard.length).toBe(1);
    call.closeSidebands();
    expect(await fault).toMatchObject({ kind: 'unreachable' });
  });

  test('whose update is refused is given up, with the code', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    const heard = new Heard();
    const attached = bench.provider.attach(
      call.id,
      { model: 'm', voice: 'v', tools: [], maxOutputTokens: 99_999 },
      heard.hear,
      new AbortController().signal,
    );
    expect(await faultOf(attached)).toMatchObject({ kind: 'refused', facts: { code: 'unknown_parameter' } });
    await expect.poll(() => call.sidebands.size).toBe(0);
  });
});

describe('A sideband', () => {
  const closers: readonly [string, 'left' | 'lost', (call: TestCall) => void][] = [
    ['that the provider closes with the call was left', 'left', (call) => call.end('hangup')],
    ['that the provider closes while the call goes on was left', 'left', (call) => call.closeSidebands()],
    ['of a server that is restarted was lost', 'lost', (call) => call.closeSidebands(1012)],
    ['that breaks was lost', 'lost', (call) => call.breakSidebands()],
    [
      'on which a frame was too long was lost',
      'lost',
      (call) => call.emitRaw(JSON.stringify({ type: 'x', text: 'x'.repeat(2 ** 21) })),
    ],
  ];

  test.each(closers)('%s', async (_, expected, close) => {
    bench = await StandInBench.open('openai');
    const { call, sideband } = await bench.listen();
    close(call);
    expect(await sideband.closed).toBe(expected);
  });

  test('that we close was lost', async () => {
    bench = await StandInBench.open('openai');
    const { sideband } = await bench.listen();
    sideband.close();
    expect(await sideband.closed).toBe('lost');
  });
});

test('A call belongs to who created it: the project key neither hears nor ends one that a client secret opened', async () => {
  bench = await StandInBench.open('openai');
  const { provider, standIn } = bench;
  const { value } = await provider.mint({ ...callRequest(bench.offerSdp) });
  const reply = await fetch(`${standIn.baseUrl}/realtime/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${value}`, 'content-type': 'application/sdp' },
    body: bench.offerSdp,
  });
  expect(reply.status).toBe(201);
  const call = standIn.lastCall;
  await expect(bench.attach(call)).rejects.toBeInstanceOf(CallOver);
  expect(await bench.hangUp(call)).toBe('already_over');
  expect(call.ended).toBeUndefined();
});

test.each(['', '/v1'])(
  'Connections go to an address of their own that ends in "%s", where one is set',
  async (path) => {
    bench = await StandInBench.open('openai');
    const elsewhere = await TestProvider.start();
    const { apiKey, baseUrl } = bench.standIn;
    const socketUrl = elsewhere.origin.replace('http', 'ws') + path;
    const openAi = new OpenAiProvider({ apiKey, baseUrl, socketUrl, timeoutMs: 5000, clientSecretTtlSec: 60 });
    const { providerCallId } = await openAi.createCall(callRequest(bench.offerSdp));
    const attached = openAi.attach(providerCallId, setup, () => undefined, new AbortController().signal);
    await expect(attached).rejects.toBeInstanceOf(CallOver);
    expect(elsewhere.calls.upgrades).toBe(1);
    await elsewhere.close();
  },
);
