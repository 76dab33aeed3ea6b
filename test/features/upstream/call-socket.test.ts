import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import type { TestCall } from '../../support/provider/call.ts';
import { allProviders, StandInBench } from './benches.ts';

let bench: StandInBench;

afterEach(() => bench.close());

/** Sends an event that is heard on every kind of call, after everything before it. */
function markEnd(call: TestCall): void {
  call.emit({ type: 'error', error: { type: 'invalid_request_error', code: 'the_end', message: 'Said last.' } });
}

describe.each(Object.keys(allProviders))('A connection to a call at %s', (name) => {
  async function listen() {
    bench = await StandInBench.open(name);
    const listening = await bench.listen();
    const codes = (): string[] => listening.heard.of('trouble').map(({ code }) => code);
    const ends = (): number => codes().filter((code) => code === 'the_end').length;
    const troubles = async (): Promise<string[]> => {
      const before = ends();
      markEnd(listening.call);
      await listening.heard.until(() => ends() > before);
      return codes();
    };
    return { ...listening, troubles };
  }

  test.each([
    ['garbage', 'garbage'],
    ['an empty text', ''],
    ['a number', '1e999'],
    ['nothing', 'null'],
    ['a list', '[{"type":"response.done"}]'],
    ['an event without a type', '{"kind":"response.done"}'],
    ['an event whose type is no text', '{"type":{}}'],
    ['half an event', '{"type":"response.done"'],
    ['200 KB of opening brackets', '['.repeat(200_000)],
  ])('that says %s is in trouble, and goes on', async (_, text) => {
    const { call, troubles } = await listen();
    call.emitRaw(text);
    expect(await troubles()).toEqual(['garbage_frame', 'the_end']);
  });

  test('takes an event for what it says, however deep the rest of it is', async () => {
    const { call, troubles, heard } = await listen();
    const deep = '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000);
    call.emitRaw(`{"type":"unheard.of","session":${deep}}`);
    call.emitRaw(`{"type":"error","error":{"code":${deep},"type":"deep"}}`);
    expect(await troubles()).toEqual(['deep', 'the_end']);
    expect(heard.of('over')).toEqual([]);
  });

  test('that says something binary is in trouble, and goes on', async () => {
    const { call, troubles } = await listen();
    call.emitRaw(Buffer.from('{"type":"response.done"}'));
    expect(await troubles()).toEqual(['binary_frame', 'the_end']);
  });

  test('is closed by a frame of 1 MB', async () => {
    const { call, heard, sideband } = await listen();
    call.emitRaw(JSON.stringify({ type: 'x', padding: 'x'.repeat(1024 * 1024) }));
    await sideband.closed;
    expect(heard.of('trouble')).toEqual([{ type: 'trouble', code: 'ws_err_unsupported_message_length' }]);
    expect(heard.of('frameTooLong')).toHaveLength(1);
    expect(heard.of('over')).toEqual([]);
    expect(call.ended).toBeUndefined();
  });

  test('lets a flood of audio pass, unparsed', async () => {
    const { call, heard, troubles } = await listen();
    const before = heard.events.length;
    // Parsing these frames would fail.
    for (let n = 0; n < 200; n += 1)
      call.emitRaw(`{"type":"session.output_audio.delta","delta":"${'A'.repeat(16_000)}`);
    call.emitRaw(`{"delta":"${'A'.repeat(16_000)}", broken, "type": "response.output_audio.delta"}`);
    expect(await troubles()).toEqual(['the_end']);
    expect(heard.events).toHaveLength(before + 1);
  });

  test('says nothing of the end when it is closed in the middle of a call', async () => {
    const { call, heard, sideband } = await listen();
    call.closeSidebands();
    await sideband.closed;
    expect(heard.of('over')).toEqual([]);
    expect(heard.of('trouble')).toEqual([]);
    expect(bench.timers.size).toBe(0);
  });

  test('is pinged after a minute of silence, and given up ten seconds later', async () => {
    const { call, heard, sideband } = await listen();
    const [peer] = call.sidebands;
    bench.timers.advance(50_000);
    const pinged = once(peer as NodeJS.EventEmitter, 'ping');
    bench.timers.advance(10_000);
    await pinged;
    call.stall();
    bench.timers.advance(10_000);
    await sideband.closed;
    expect(heard.of('trouble')).toEqual([{ type: 'trouble', code: 'half_open' }]);
    expect(bench.timers.size).toBe(0);
  });

  test('is kept while the provider shows that it is there, by an event or a ping', async () => {
    const { call, heard, troubles } = await listen();
    const [peer] = call.sidebands;
    for (let minute = 0; minute < 3; minute += 1) {
      bench.timers.advance(50_000);
      peer?.ping();
      await once(peer as NodeJS.EventEmitter, 'pong');
      bench.timers.advance(50_000);
      await troubles();
    }
    expect(heard.of('trouble').map(({ code }) => code)).not.toContain('half_open');
    expect(call.sidebands.size).toBe(1);
  });

  test('is closed with the call', async () => {
    const { call, sideband } = await listen();
    call.end('hangup');
    await sideband.closed;
    expect(bench.timers.size).toBe(0);
  });
});
