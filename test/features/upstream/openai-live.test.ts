import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OpenAiLiveProvider } from '../../../src/upstream/openai-live.ts';
import { StandInBench } from './benches.ts';
import { callRequest, faultOf } from './brokered-suite.ts';
import { Heard } from './heard.ts';

let bench: StandInBench;

beforeEach(async () => {
  bench = await StandInBench.open('openai-live');
});

afterEach(() => bench.close());

describe('The live API', () => {
  test('is asked for sessions that pages cannot change', async () => {
    const call = await bench.create();
    expect(call.terms.offer).toBe(bench.offerSdp);
    expect(call.terms.session).toMatchObject({
      model: 'gpt-realtime-2.1',
      instructions: 'Be kind.',
      audio: { output: { voice: 'marin' } },
      store: false,
      client: {
        data_channel: {
          allowed_client_events: ['session.input_audio.mute', 'session.input_audio.unmute', 'session.close'],
        },
      },
    });
    expect(bench.provider.capabilities).toMatchObject({ lockConfig: true, meter: 'clock', hangUp: 'socket' });
  });

  test('is told the further fields of an agent, those of its audio too, and refuses what it does not know', async () => {
    const behaviour = { extra: { audio: { output: { unheard_of: true } } } };
    const fault = await faultOf(bench.provider.createCall(callRequest(bench.offerSdp, { behaviour })));
    expect(fault).toMatchObject({ kind: 'refused', facts: { code: 'unknown_parameter' } });
  });

  test('tells the cost by itself where its connections are held', () => {
    const live = new OpenAiLiveProvider({ apiKey: 'sk-1', timeoutMs: 1000, liveSideband: 'hold' });
    expect(live.capabilities.meter).toBe('events');
  });

  test('has no client secrets', async () => {
    expect(await faultOf(bench.provider.mint(callRequest('')))).toMatchObject({ kind: 'refused' });
  });

  test('tells the final seconds when it is hung up', async () => {
    const call = await bench.create();
    call.seconds = 33.2;
    const heard = new Heard();
    expect(await bench.hangUp(call, heard)).toBe('asked');
    expect(heard.events).toEqual([{ type: 'usageTotal', ms: 33_200 }]);
    expect(call.ended).toMatchObject({ reason: 'close_requested' });
    expect(bench.timers.size).toBe(0);
  });

  test('that does not confirm a close in ten seconds has not hung up', async () => {
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'no update';
    const fault = faultOf(bench.hangUp(call));
    await expect.poll(() => call.heard.length).toBe(1);
    bench.timers.advance(10_000);
    expect(await fault).toMatchObject({ kind: 'timeout' });
    await expect.poll(() => call.sidebands.size).toBe(0);
  });

  test('that closes the connection instead of the session has not hung up', async () => {
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'no update';
    const fault = faultOf(bench.hangUp(call));
    await expect.poll(() => call.heard.length).toBe(1);
    call.closeSidebands();
    expect(await fault).toMatchObject({ kind: 'unreachable' });
  });

  test('that cannot be attached to has not hung up', async () => {
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'broken';
    expect(await faultOf(bench.hangUp(call))).toMatchObject({ kind: 'refused', facts: { status: 500 } });
  });

  test('is given up with whoever hangs up', async () => {
    const call = await bench.create();
    bench.standIn.calls.attachMode = 'no update';
    const caller = new AbortController();
    const fault = faultOf(bench.hangUp(call, new Heard(), caller.signal));
    await expect.poll(() => call.heard.length).toBe(1);
    caller.abort();
    expect(await fault).toMatchObject({ kind: 'timeout' });
    expect(bench.timers.size).toBe(0);
  });

  test('tells totals that only grow', async () => {
    const { call, heard } = await bench.listen();
    for (const seconds of [20, 45.0001, 30, 45.0001, 60]) call.tellSeconds(seconds);
    await heard.until(() => heard.of('usageTotal').some(({ ms }) => ms === 60_000));
    expect(heard.of('usageTotal').map(({ ms }) => ms)).toEqual([20_000, 45_001, 60_000]);
  });

  test.each([undefined, null, -1, '20', 1e9])('has a total of %j seconds dropped', async (seconds) => {
    const { call, heard } = await bench.listen();
    call.emit({ type: 'session.usage.updated', usage: { seconds } });
    expect(await heard.next('usageUnreadable')).toEqual({ type: 'usageUnreadable', key: undefined });
  });

  test.each([
    ['close_requested', 'remote'],
    ['remote_hangup', 'remote'],
    ['expired', 'expired'],
    ['content', 'content'],
    ['connection_lost', 'lost'],
    ['something new', 'remote'],
  ] as const)('that closes a session as "%s" is over as "%s", after its final total', async (reason, told) => {
    const { call, heard, sideband } = await bench.listen();
    call.seconds = 20;
    call.end(reason);
    await sideband.closed;
    expect(heard.events.slice(1)).toEqual([
      { type: 'usageTotal', ms: 20_000 },
      { type: 'over', reason: told },
    ]);
  });
});
