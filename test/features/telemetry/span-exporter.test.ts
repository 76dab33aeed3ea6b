import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { spanIdOf, traceIdOf } from '../../../src/kernel/trace-context.ts';
import { createEvents } from '../../../src/telemetry/events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { isSampled } from '../../../src/telemetry/traces/create-trace.ts';
import { SpanExporter } from '../../../src/telemetry/traces/span-exporter.ts';
import { ManualClock, NOON, SECOND } from '../../support/clock.ts';
import { Collector } from '../../support/collector.ts';
import { ManualTimers } from '../../support/manual-timers.ts';

const SECRET = 'value-of-the-collectors-key';

let collector: Collector;
let clock: ManualClock;
let lines: string[];
let metrics: Metrics;
let exporter: SpanExporter;

beforeEach(async () => {
  collector = await Collector.start();
  clock = new ManualClock();
  lines = [];
  metrics = new Metrics();
  const events = createEvents(createLog('info', false, { write: (line) => void lines.push(line) }), metrics);
  exporter = new SpanExporter({
    url: new URL('/v1/traces', collector.url),
    headers: { 'api-key': SECRET },
    resource: { 'service.name': 'switchboard' },
    version: '1.0.0',
    clock,
    events,
  });
});

afterEach(async () => {
  expect(collector.faults).toEqual([]);
  expect(lines.join('')).not.toContain(SECRET);
  await collector.close();
});

let named = 0;

/** Makes spans, each in a trace of its own. */
function make(count: number): void {
  for (let n = 0; n < count; n += 1) {
    named += 1;
    const traceId = traceIdOf(`s:${named}`);
    const ids = { traceId, spanId: spanIdOf(traceId, 'root'), parentId: null, isParentRemote: false, link: null };
    exporter.add([{ ...ids, name: 'span', isRequest: false, fromMs: NOON, toMs: NOON + 0.5, told: {}, error: null }]);
  }
}

async function tick(ms = 0): Promise<void> {
  clock.advance(ms);
  await exporter.tick();
}

const valueOf = async (name: string): Promise<number> => {
  const metric = (await metrics.registry.getMetricsAsJSON()).find((one) => one.name === name);
  return metric?.values[0]?.value ?? 0;
};
const dropped = (): Promise<number> => valueOf('switchboard_trace_spans_dropped_total');
const logged = (event: string): number => lines.filter((line) => line.includes(`"event":"${event}"`)).length;

describe('Spans that wait', () => {
  test('are sent in whole batches at once, and five seconds after the first of a batch', async () => {
    make(511);
    await tick(4.9 * SECOND);
    expect(collector.requests).toEqual([]);
    make(1);
    await tick();
    expect(collector.requests.map(({ count }) => count)).toEqual([512]);
    make(3);
    await tick(4.9 * SECOND);
    expect(collector.requests).toHaveLength(1);
    await tick(0.1 * SECOND);
    expect(collector.requests.map(({ count }) => count)).toEqual([512, 3]);
    expect(collector.requests[0]?.headers['api-key']).toBe(SECRET);
    expect(collector.spans[0]).toMatchObject({ toNanos: BigInt(NOON) * 1_000_000n + 500_000n });
    expect([await dropped(), await valueOf('switchboard_trace_spans_sent_total')]).toEqual([0, 515]);
  });

  test('are 2,048 at most; what is more is dropped and counted', async () => {
    make(2050);
    expect([exporter.room, await dropped()]).toEqual([0, 2]);
    await tick();
    expect(collector.requests.map(({ count }) => count)).toEqual([512, 512, 512, 512]);
    expect(exporter.room).toBe(2048);
  });

  test.each([429, 502, 503, 504])('wait on while the collector answers %i, which is told once', async (status) => {
    collector.mode = { status };
    make(1);
    await tick(5 * SECOND);
    await tick(4.9 * SECOND);
    expect(collector.requests).toHaveLength(1);
    await tick(0.1 * SECOND);
    await tick(9.9 * SECOND);
    expect(collector.requests).toHaveLength(2);
    await tick(0.1 * SECOND);
    expect(collector.requests).toHaveLength(3);
    expect([logged('collector.away'), logged('collector.back'), metrics.activity.faultsOf('collector')]).toEqual([
      1, 0, 3,
    ]);
    collector.mode = 'take';
    await tick(20 * SECOND);
    expect([collector.spans.length, logged('collector.back'), await dropped()]).toEqual([1, 1, 0]);
  });

  test('wait on while a proxy answers 502 at any length', async () => {
    collector.mode = { status: 502, body: 'x'.repeat(100_000) };
    make(2);
    await tick(5 * SECOND);
    expect([exporter.waiting, await dropped(), logged('collector.away')]).toEqual([2, 0, 1]);
  });

  test('are taken by a collector that answers 200 at any length', async () => {
    collector.mode = { status: 200, body: 'x'.repeat(100_000) };
    make(2);
    await tick(5 * SECOND);
    expect([exporter.waiting, await dropped(), logged('collector.away')]).toEqual([0, 0, 0]);
    expect(await valueOf('switchboard_trace_spans_sent_total')).toBe(2);
  });

  test('are not sent again to a collector that took them and broke off its reply', async () => {
    collector.mode = 'break-off';
    make(2);
    await tick(5 * SECOND);
    expect([exporter.waiting, collector.spans.length, logged('collector.away')]).toEqual([0, 2, 0]);
  });

  test('wait on while nobody is there', async () => {
    const { url } = collector;
    await collector.close();
    make(600);
    await tick();
    expect([logged('collector.away'), exporter.waiting]).toEqual([1, 600]);
    expect(lines.join('')).toContain('ECONNREFUSED');
    expect(lines.join('')).not.toContain(url);
    collector = await Collector.start();
  });

  test.each([400, 401, 302])('are dropped where the collector answers %i, because it would again', async (status) => {
    collector.mode = { status, body: `{"message":"${SECRET}"}` };
    make(2);
    await tick(5 * SECOND);
    expect([exporter.waiting, await dropped(), logged('collector.away')]).toEqual([0, 2, 1]);
  });

  test('are counted as dropped where the collector rejects them', async () => {
    collector.mode = { status: 200, body: '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}' };
    make(5);
    await tick(5 * SECOND);
    expect([await dropped(), await valueOf('switchboard_trace_spans_sent_total')]).toEqual([2, 3]);
  });

  test('do not wait for a request that a collector does not answer', async () => {
    collector.mode = 'hang';
    make(512);
    const sending = exporter.tick();
    make(1);
    clock.advance(6 * SECOND);
    const timers = new ManualTimers();
    const closing = exporter.close(3 * SECOND, timers.after);
    timers.advance(3 * SECOND);
    await Promise.all([sending, closing]);
    expect([exporter.waiting, await dropped()]).toEqual([0, 513]);
  });

  test('are sent when the process stops', async () => {
    make(7);
    await exporter.close(3 * SECOND, new ManualTimers().after);
    expect([collector.spans.length, await dropped()]).toEqual([7, 0]);
  });

  test('are sent after the clock was set back', async () => {
    collector.mode = { status: 503 };
    make(1);
    await tick(5 * SECOND);
    collector.mode = 'take';
    clock.set(NOON - 3600 * SECOND);
    await tick();
    await tick(5 * SECOND);
    expect(collector.spans).toHaveLength(1);
  });
});

describe('Sampling', () => {
  const ids = Array.from({ length: 2000 }, (_, n) => traceIdOf(`s:${n}`));
  const share = (ratio: number): number =>
    ids.filter((id) => isSampled('parentbased_traceidratio', ratio, id, undefined)).length / ids.length;

  test('keeps the share that is asked for, and with a higher share all that it kept with a lower', () => {
    expect([share(0), share(1)]).toEqual([0, 1]);
    expect(share(0.25)).toBeCloseTo(0.25, 1);
    const kept = ids.filter((id) => isSampled('traceidratio', 0.1, id, undefined));
    expect(kept.every((id) => isSampled('traceidratio', 0.5, id, undefined))).toBe(true);
  });

  test('follows a back end where the sampler is based on it, and not else', () => {
    const [id = ''] = ids;
    const by = (name: Parameters<typeof isSampled>[0], isParentSampled: boolean) =>
      isSampled(name, 0, id, { isSampled: isParentSampled });
    expect([by('parentbased_traceidratio', true), by('parentbased_always_off', true)]).toEqual([true, true]);
    expect([by('parentbased_always_on', false), by('always_on', false), by('traceidratio', true)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
