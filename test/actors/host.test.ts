import { describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import { hostOn, LampStore, pause, type Event, type Lamp } from './lamp.ts';

describe('The host', () => {
  test('answers with the saved record and the machine’s facts', async () => {
    const store = new LampStore();
    store.put('a');
    const outcome = await hostOn(store).send('a', { type: 'PULL' });
    expect(outcome).toEqual({ record: { id: 'a', version: 2, isOn: true, pulls: 1 }, facts: [{ type: 'lamp.on' }] });
    expect(store.lamps.get('a')).toBe(outcome?.record);
  });

  test('saves nothing when nothing changed', async () => {
    const store = new LampStore();
    store.put('a');
    expect(await hostOn(store).send('a', { type: 'LOOK' })).toEqual({ record: store.lamps.get('a'), facts: [] });
    expect(store.asked).toEqual(['load a']);
  });

  test('opens an actor without a record: the machine makes the first record from the event, and nothing is saved', () => {
    const store = new LampStore();
    const host = hostOn(store);
    expect(host.open({ type: 'MOUNT', id: 'new' })).toEqual({ id: 'new', version: 1, isOn: false, pulls: 0 });
    expect(store.asked).toEqual([]);
  });

  test('opens nothing for an event that does not open', () => {
    expect(() => hostOn(new LampStore()).open({ type: 'PULL' })).toThrow('PULL opens nothing in lamp');
  });

  test('sends nothing to an actor that is done', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(store, { stateOf: () => 'smashed' });
    expect(await host.send('a', { type: 'PULL' })).toEqual({ record: store.lamps.get('a'), facts: [] });
  });

  test('reports an unknown id, and an id to which the caller may not send, as the same', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(store);
    expect(await host.send('nobody', { type: 'PULL' })).toBeUndefined();
    expect(await host.send('a', { type: 'PULL' }, ({ pulls }) => pulls > 0)).toBeUndefined();
    expect(store.lamps.get('a')?.pulls).toBe(0);
    expect(await host.send('a', { type: 'PULL' }, ({ pulls }) => pulls === 0)).toBeDefined();
  });

  test('checks again after a conflict whether it may send, because the record may have changed', async () => {
    const store = new LampStore();
    store.put('a');
    store.beforeSave = () => store.put('a', { version: 9, pulls: 7 });
    expect(await hostOn(store).send('a', { type: 'PULL' }, ({ pulls }) => pulls < 5)).toBeUndefined();
  });

  test('handles events of one id one after the other, in the order of arrival', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(store);
    const outcomes = await Promise.all(Array.from({ length: 20 }, async () => host.send('a', { type: 'PULL' })));
    expect(outcomes.map((outcome) => outcome?.record.pulls)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(store.mostBusy).toBe(1);
    expect(store.asked.filter((line) => line.endsWith('false'))).toEqual([]);
  });

  test('handles events of different ids at the same time', async () => {
    const store = new LampStore();
    store.put('a');
    store.put('b');
    const host = hostOn(store);
    await Promise.all([host.send('a', { type: 'PULL' }), host.send('b', { type: 'PULL' })]);
    expect(store.asked.slice(0, 2)).toEqual(['load a', 'load b']);
  });

  test('decides again on the newer record if another node was first', async () => {
    const store = new LampStore();
    store.put('a');
    store.beforeSave = () => {
      store.beforeSave = () => undefined;
      store.put('a', { version: 2, isOn: true, pulls: 1 });
    };
    const outcome = await hostOn(store).send('a', { type: 'PULL' });
    expect(outcome).toEqual({ record: { id: 'a', version: 3, isOn: false, pulls: 2 }, facts: [] });
    expect(store.asked).toEqual(['load a', 'save a false', 'load a', 'save a true']);
  });

  test('gives up if others are first again and again, and continues with the next event', async () => {
    const store = new LampStore();
    store.put('a');
    let version = 1;
    store.beforeSave = () => store.put('a', { version: (version += 1) });
    const host = hostOn(store);
    const error = await Promise.resolve(host.send('a', { type: 'PULL' })).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(Unavailable);
    expect(store.asked.filter((line) => line.startsWith('save'))).toHaveLength(9);
    store.beforeSave = () => undefined;
    expect((await host.send('a', { type: 'PULL' }))?.record.pulls).toBe(1);
  });

  test('answers a losing event that adds nothing from the winning record, however often others are first', async () => {
    const store = new LampStore();
    store.put('a');
    let version = 1;
    store.beforeSave = () => store.put('a', { version: (version += 1), isOn: true, pulls: 7 });
    const polish = (lamp: Lamp, event: Event): Lamp | undefined =>
      event.type === 'POLISH' ? { ...lamp, version: lamp.version + 1 } : undefined;
    const host = hostOn(store, { fastPath: polish, tellsMore: (present, lost) => lost.pulls > present.pulls });
    const polished = await host.send('a', { type: 'POLISH' });
    expect(polished).toEqual({ record: { id: 'a', version: 2, isOn: true, pulls: 7 }, facts: [] });
    expect(store.asked).toEqual(['load a', 'save a false', 'load a']);
    // An event that tells more must win, and never does here.
    await expect(host.send('a', { type: 'PULL' })).rejects.toThrow(Unavailable);
  });

  test('publishes facts only of what was saved, and only once', async () => {
    const store = new LampStore();
    store.put('a');
    const told: unknown[] = [];
    store.beforeSave = (lamp) => {
      expect(told).toEqual([]);
      store.beforeSave = () => undefined;
      store.put('a', { version: lamp.version });
    };
    const host = hostOn(store, {
      settled: (lamp, facts) => {
        expect(store.lamps.get('a')).toBe(lamp);
        told.push(...facts);
      },
    });
    await host.send('a', { type: 'PULL' });
    expect(told).toEqual([{ type: 'lamp.on' }]);
  });

  test('answers only after everything is settled, and settles nothing without a fact', async () => {
    const store = new LampStore();
    store.put('a');
    const order: string[] = [];
    const host = hostOn(store, {
      async settled() {
        await pause();
        order.push('settled');
      },
    });
    await Promise.resolve(host.send('a', { type: 'PULL' })).then(() => order.push('answered'));
    await Promise.resolve(host.send('a', { type: 'PULL' })).then(() => order.push('answered'));
    expect(order).toEqual(['settled', 'answered', 'answered']);
  });

  test('answers with a fault if settling fails, although the record is saved', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(store, { settled: () => Promise.reject(new Unavailable('database')) });
    await expect(host.send('a', { type: 'PULL' })).rejects.toThrow(Unavailable);
    expect(store.lamps.get('a')?.isOn).toBe(true);
    expect((await host.send('a', { type: 'PULL' }))?.record.isOn).toBe(false);
  });

  test('throws a guard’s error to the sender of the event, and later events are not affected', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(store);
    const [broken, fine] = await Promise.allSettled([
      host.send('a', { type: 'BREAK' }),
      host.send('a', { type: 'PULL' }),
    ]);
    expect(broken).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining('a guard that throws') },
    });
    expect(fine).toMatchObject({ status: 'fulfilled', value: { record: { pulls: 1 } } });
    // By now an unhandled rejection would have been thrown on the event loop, and would fail the test run.
    await pause();
  });

  test('reports that the store is away, and asks it again for the next event', async () => {
    const store = new LampStore();
    store.put('a');
    let isAway = true;
    const host = hostOn({
      load: async (id) => (isAway ? Promise.reject(new Unavailable('registry')) : store.load(id)),
      save: (lamp, version) => store.save(lamp, version),
    });
    await expect(host.send('a', { type: 'PULL' })).rejects.toThrow(Unavailable);
    isAway = false;
    expect((await host.send('a', { type: 'PULL' }))?.record.pulls).toBe(1);
  });
});

describe('The host’s fast path', () => {
  const polish = (lamp: Lamp, event: Event): Lamp | undefined =>
    event.type === 'POLISH' ? { ...lamp, version: lamp.version + 1 } : undefined;

  test('saves what it answers, and leaves every other event to the machine', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(store, { fastPath: polish, settled: () => Promise.reject(new Error('nothing to settle')) });
    expect(await host.send('a', { type: 'POLISH' })).toEqual({ record: store.lamps.get('a'), facts: [] });
    expect(store.lamps.get('a')).toMatchObject({ version: 2, isOn: false });
    await expect(host.send('a', { type: 'PULL' })).rejects.toThrow('nothing to settle');
  });

  test('loses to another node as the machine does', async () => {
    const store = new LampStore();
    store.put('a');
    store.beforeSave = () => {
      store.beforeSave = () => undefined;
      store.put('a', { version: 5, isOn: true });
    };
    await hostOn(store, { fastPath: polish }).send('a', { type: 'POLISH' });
    expect(store.lamps.get('a')).toMatchObject({ version: 6, isOn: true });
  });
});

describe('With a store that remembers what it last saw, the host', () => {
  const recalling = (store: LampStore, recalled: Lamp) => ({
    load: (id: string) => store.load(id),
    save: (lamp: Lamp, version: number) => store.save(lamp, version),
    recall: () => recalled,
  });

  test('saves without loading, and loads if the memory was out of date', async () => {
    const store = new LampStore();
    store.put('a');
    const host = hostOn(recalling(store, { id: 'a', version: 1, isOn: false, pulls: 0 }));
    expect((await host.send('a', { type: 'PULL' }))?.record).toMatchObject({ pulls: 1 });
    expect((await host.send('a', { type: 'PULL' }))?.record).toMatchObject({ pulls: 2, isOn: false });
    expect(store.asked[0]).toBe('save a true');
    expect(store.asked).toContain('load a');
  });

  test('neither answers nor refuses from memory alone', async () => {
    const store = new LampStore();
    store.put('a', { version: 7, pulls: 5 });
    const host = hostOn(recalling(store, { id: 'a', version: 1, isOn: false, pulls: 0 }));
    expect((await host.send('a', { type: 'LOOK' }))?.record.pulls).toBe(5);
    expect(await host.send('a', { type: 'LOOK' }, ({ pulls }) => pulls === 5)).toBeDefined();
    expect(await host.send('a', { type: 'PULL' }, ({ pulls }) => pulls === 0)).toBeUndefined();
    expect(store.lamps.get('a')?.pulls).toBe(5);
  });
});

describe('On a store that answers synchronously, the host', () => {
  function atOnce() {
    const lamps = new Map<string, Lamp>([['a', { id: 'a', version: 1, isOn: false, pulls: 0 }]]);
    const host = hostOn({
      load: (id) => lamps.get(id),
      save: (lamp) => {
        lamps.set(lamp.id, lamp);
        return true;
      },
    });
    return { host, lamps };
  }

  test('answers synchronously, without a promise', () => {
    const { host } = atOnce();
    expect(host.send('a', { type: 'PULL' })).toMatchObject({ record: { pulls: 1 } });
    expect(host.send('a', { type: 'PULL' })).toMatchObject({ record: { pulls: 2 } });
    expect(host.send('nobody', { type: 'PULL' })).toBeUndefined();
  });

  test.each(['done', 'failed'])(
    'answers synchronously again as soon as slow work on the same id is %s',
    async (outcome) => {
      const { lamps } = atOnce();
      const host = hostOn(
        { load: (id) => lamps.get(id), save: (lamp) => lamps.set(lamp.id, lamp) !== undefined },
        { settled: () => pause().then(() => (outcome === 'failed' ? Promise.reject(new Error('failed')) : undefined)) },
      );
      const slow = [host.send('a', { type: 'PULL' }), host.send('a', { type: 'LOOK' })];
      expect(slow.every((answer) => answer instanceof Promise)).toBe(true);
      await Promise.allSettled(slow.map(async (answer) => answer));
      await pause();
      expect(host.send('a', { type: 'LOOK' })).toMatchObject({ record: { pulls: 1 } });
    },
  );
});
