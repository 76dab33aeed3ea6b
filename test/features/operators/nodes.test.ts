import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { PassiveHealth } from '../../../src/kernel/passive-health.ts';
import { hashConfig, hashSettings } from '../../../src/operators/live/this-process.ts';
import { Dependencies } from '../../../src/operators/live/dependencies.ts';
import { NodeList } from '../../../src/node/nodes.ts';
import { Presence } from '../../../src/node/presence.ts';
import type { DependencyState } from '../../../src/protocol/operator/node.ts';
import { createInProcessBus } from '../../../src/stores/in-process.ts';
import type { NewEntry } from '../../../src/stores/journal/contract.ts';
import { readBusMessage, type BusMessage } from '../../../src/protocol/bus.ts';
import { ManualClock, SECOND } from '../../support/clock.ts';

const well = { failure: () => undefined };
const vitals = { loopP99Ms: 1, rss: 2, sockets: 3, historyWaiting: 4, eventsWaiting: 5, eventsDropped: 6 };

function processes() {
  const clock = new ManualClock();
  const bus = createInProcessBus();
  const written: string[] = [];
  let fault: Error | undefined;
  const write = async (what: string): Promise<void> => {
    if (fault !== undefined) throw fault;
    written.push(what);
  };
  const journal = {
    append: ([entry]: readonly NewEntry[]) => write(`${entry?.code} ${entry?.of.target}`),
  };
  const requestTimes = { note: (prefix: string, requests: number) => write(`${prefix} ${requests}`) };
  const given = { requests: 0 };
  const start = (node: string, on = bus, settings: Readonly<Record<string, string>> = {}) => {
    const nodes = new NodeList({ node, bus: on, clock });
    const dependencies = new Dependencies({
      probes: { database: async () => undefined, registry: async () => undefined },
      health: { database: well, registry: well },
      faultsOf: () => 0,
      onError: () => undefined,
      clock,
    });
    const startedAtMs = clock.now();
    const run = {
      prefix: node,
      node,
      host: 'h',
      version: '1',
      configHash: 'c',
      shard: 0,
      startedAtMs,
    };
    const presence = new Presence({
      run,
      pid: 1,
      settings,
      vitals: () => vitals,
      requests: () => given.requests,
      dependencies,
      nodes,
      journal,
      requestTimes,
      bus: on,
      clock,
    });
    return { nodes, presence };
  };
  const setFault = (error: Error | undefined): void => void (fault = error);
  return { clock, bus, start, written, given, setFault };
}

describe('Processes', () => {
  test('know each other from what each says, itself included, in the order in which they started', async () => {
    const { clock, start } = processes();
    const one = start('b');
    clock.advance(SECOND);
    const other = start('a');
    await other.presence.beat();
    await one.presence.beat();
    for (const { nodes } of [one, other]) expect(nodes.list().map(({ id }) => id)).toEqual(['b', 'a']);
    expect(one.nodes.list()[1]).toMatchObject({
      ...vitals,
      host: 'h',
      configHash: 'c',
      dependencies: [{ name: 'database' }, {}, {}, {}],
    });
  });

  test('say what is watched as soon as the bus is back, where it was away when that changed', async () => {
    const { bus, start } = processes();
    const heard: BusMessage[] = [];
    const cutOff = { ...bus, isConnected: false, publish: (message: BusMessage) => void heard.push(message) };
    const { presence } = start('a', cutOff);
    const watched = { refs: [], topics: ['sessions'] };
    presence.watch(watched);
    cutOff.isConnected = true;
    presence.watch(watched);
    presence.watch(watched);
    expect(heard).toEqual([{ type: 'feed.watched', node: 'a', refs: [], topics: ['sessions'] }]);
  });

  test('are forgotten 15 seconds after they were heard of last', async () => {
    const { clock, start } = processes();
    const { nodes, presence } = start('a');
    await presence.beat();
    clock.advance(15 * SECOND);
    expect(nodes.list()).toHaveLength(1);
    clock.advance(1);
    expect(nodes.list()).toEqual([]);
    await presence.beat();
    expect(nodes.list()).toHaveLength(1);
  });

  test('tell by the hashes of their settings which of these differ, and a build that tells none differs in none', async () => {
    const { start, bus } = processes();
    const [one, other] = [
      start('a', bus, { LIMIT: '1', SAME: '2', NEW: '3' }),
      start('b', bus, { LIMIT: '4', SAME: '2' }),
    ];
    await one.presence.beat();
    expect(one.nodes.differing()).toEqual([]);
    await other.presence.beat();
    const [node] = other.nodes.list();
    if (node !== undefined) bus.publish({ type: 'node.here', node: { ...node, id: 'old' } });
    for (const { nodes } of [one, other]) expect(nodes.differing()).toEqual(['LIMIT', 'NEW']);
    expect(JSON.stringify(one.nodes.list())).not.toContain('SAME');
  });

  test('that stop leave the lists of the others at once', async () => {
    const { start, written } = processes();
    const [one, other] = [start('a'), start('b')];
    await one.presence.beat();
    await other.presence.beat();
    await one.presence.leave();
    expect(other.nodes.list().map(({ id }) => id)).toEqual(['b']);
    expect(written).toEqual(['started a', 'stopped a']);
  });

  test('that are cut off know themselves, and send nothing that would be missed', async () => {
    const { bus, start } = processes();
    const said: BusMessage[] = [];
    bus.subscribe((message) => said.push(message));
    const { nodes, presence } = start('a', { ...bus, isConnected: false });
    await presence.beat();
    expect(nodes.list()).toHaveLength(1);
    expect(said).toEqual([]);
  });

  test('write down that they run once, and how many request ids they gave when that has changed', async () => {
    const { start, written, given, setFault } = processes();
    const { presence } = start('a');
    setFault(new Unavailable('database'));
    await expect(presence.write()).rejects.toThrow(Unavailable);
    setFault(undefined);
    await presence.write();
    given.requests = 7;
    await presence.write();
    await presence.write();
    expect(written).toEqual(['started a', 'a 7']);
  });

  test('say what another process can read, and what is no node is no message', async () => {
    const { bus, start } = processes();
    const said: BusMessage[] = [];
    bus.subscribe((message) => said.push(message));
    await start('a').presence.beat();
    expect(said.map((message) => readBusMessage(JSON.stringify(message)))).toEqual(said);
    expect(readBusMessage(JSON.stringify({ type: 'node.here', node: { id: 'a' } }))).toBeUndefined();
    expect(readBusMessage(JSON.stringify({ type: 'node.gone' }))).toBeUndefined();
  });
});

describe('What a process stands on', () => {
  function look(hasCollector = false) {
    const clock = new ManualClock();
    let fault: Error | undefined;
    const faults = new Map<string, number>();
    const told: unknown[] = [];
    const health = new PassiveHealth(() => clock.now());
    const dependencies = new Dependencies({
      probes: {
        async database() {
          if (fault !== undefined) throw fault;
        },
        registry: async () => undefined,
      },
      health: { database: health, registry: well },
      faultsOf: (name) => faults.get(name) ?? 0,
      hasCollector,
      onError: (error) => told.push(error),
      clock,
    });
    const of = (name: string): DependencyState | undefined => dependencies.list().find((one) => one.name === name);
    const setFault = (error: Error | undefined): void => void (fault = error);
    return { clock, dependencies, faults, health, of, setFault, told };
  }

  test('is a collector of traces as well, where they are sent to one, by its faults', async () => {
    const { clock, dependencies, faults, of } = look(true);
    await dependencies.look();
    expect(of('collector')).toMatchObject({ state: 'ok', latencyMs: null });
    faults.set('collector', 1);
    await dependencies.look();
    expect(of('collector')).toMatchObject({ state: 'away', lastError: 'fault' });
    clock.advance(60 * SECOND);
    await dependencies.look();
    expect(of('collector')).toMatchObject({ state: 'ok' });
    const other = look();
    await other.dependencies.look();
    expect(other.of('collector')).toBeUndefined();
  });

  test('is told since when it is as it is, and by which kind of fault, without the words of the fault', async () => {
    const { clock, dependencies, of, setFault } = look();
    expect(dependencies.list()).toEqual([]);
    const started = new Date(clock.now()).toISOString();
    await dependencies.look();
    expect(of('database')).toMatchObject({
      state: 'ok',
      since: started,
      lastError: null,
      latencyMs: expect.any(Number),
    });
    clock.advance(SECOND);
    const cause = Object.assign(new Error('connect ada@db.example'), { code: 'ECONNREFUSED' });
    setFault(new Unavailable('database', cause));
    const away = {
      state: 'away',
      since: new Date(clock.now()).toISOString(),
      lastError: 'ECONNREFUSED',
      latencyMs: null,
    };
    await dependencies.look();
    clock.advance(SECOND);
    await dependencies.look();
    expect(of('database')).toEqual({ name: 'database', ...away });
    setFault(undefined);
    await dependencies.look();
    expect(of('database')).toMatchObject({
      state: 'ok',
      since: new Date(clock.now()).toISOString(),
      lastError: 'ECONNREFUSED',
    });
    expect(of('registry')).toMatchObject({ state: 'ok', since: started });
  });

  test('is away at once where work fails, whatever the last probe got, and well again when work is', async () => {
    const { clock, dependencies, health, of, told } = look();
    await dependencies.look();
    expect(() => dependencies.expectWell('database')).not.toThrow();
    clock.advance(SECOND);
    const fault = Object.assign(new Error('could not extend file'), { code: '53100' });
    health.refused(fault, true);
    const since = new Date(clock.now()).toISOString();
    expect(of('database')).toMatchObject({ state: 'away', since, lastError: '53100', latencyMs: null });
    expect(() => dependencies.expectWell('database')).toThrow(fault);
    await dependencies.look();
    expect(of('database')).toMatchObject({ state: 'away', since });
    clock.advance(8 * SECOND);
    expect(of('database')).toMatchObject({ state: 'ok', latencyMs: expect.any(Number), lastError: '53100' });
    expect(() => dependencies.expectWell('database')).not.toThrow();
    expect(told).toEqual([]);
  });

  test('is away while its probe fails, which is told, and until the next one succeeds', async () => {
    const { dependencies, setFault, told } = look();
    const fault = new Unavailable('database');
    setFault(fault);
    await dependencies.look();
    expect(() => dependencies.expectWell('database')).toThrow(fault);
    expect(told).toEqual([fault]);
    setFault(undefined);
    await dependencies.look();
    expect(() => dependencies.expectWell('database')).not.toThrow();
  });

  test('is away for a minute after a fault, where nobody can ask it', async () => {
    const { clock, dependencies, faults, of } = look();
    await dependencies.look();
    expect(of('mail')).toMatchObject({ state: 'ok', latencyMs: null });
    faults.set('mail', 1);
    await dependencies.look();
    expect(of('mail')).toMatchObject({ state: 'away', lastError: 'fault' });
    clock.advance(59 * SECOND);
    await dependencies.look();
    expect(of('mail')).toMatchObject({ state: 'away' });
    clock.advance(SECOND);
    await dependencies.look();
    expect(of('mail')).toMatchObject({ state: 'ok' });
    expect(of('provider')).toMatchObject({ state: 'ok' });
  });
});

describe('The hash of settings', () => {
  const key = Buffer.from('key');
  const proxies = (cidr: number): BlockList => {
    const list = new BlockList();
    list.addSubnet('10.0.0.0', cidr);
    return list;
  };
  const settings = { host: 'a', port: 1, secret: 'x', voice: { maxMinutes: 15, maxIdleSec: 3 }, trusted: proxies(8) };

  test('is the same for processes that differ in where they listen, and in the order of what they read', () => {
    const turned = {
      trusted: proxies(8),
      voice: { maxIdleSec: 3, maxMinutes: 15 },
      secret: 'x',
      port: 2,
      host: 'b',
    };
    expect(hashConfig(turned, key)).toBe(hashConfig(settings, key));
  });

  test.each([
    ['a secret', { secret: 'y' }],
    ['a limit', { voice: { maxMinutes: 16, maxIdleSec: 3 } }],
    ['a trusted network', { trusted: proxies(16) }],
    ['a setting that the other does not have', { more: true }],
  ])('is another where %s differs, and tells nothing of it', (_what, difference) => {
    const hash = hashConfig({ ...settings, ...difference }, key);
    expect(hash).not.toBe(hashConfig(settings, key));
    expect(hash).toMatch(/^[0-9a-f]{12}$/);
  });

  test('of each variable tells nothing of it without the key, and says of two with one value not that they are alike', () => {
    const values = new Map<string, unknown>([
      ['A', 'x'],
      ['B', 'x'],
      ['PORT', 1],
    ]);
    const hashes = hashSettings(values, key);
    expect(hashes).toEqual({ A: expect.stringMatching(/^[0-9a-f]{8}$/), B: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(hashes['A']).not.toBe(hashes['B']);
    expect(hashSettings(values, Buffer.from('other'))['A']).not.toBe(hashes['A']);
  });

  test('is another under another key, so that nobody can try which secret it stands for', () => {
    expect(hashConfig(settings, Buffer.from('other'))).not.toBe(hashConfig(settings, key));
  });
});
