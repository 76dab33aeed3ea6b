import { describe, expect, test } from 'vitest';
import { run, type StopStores } from '../../../src/cli/stop.ts';
import { DirectoryInUse } from '../../../src/database/embedded/directory-lock.ts';
import { aTenant, FakeActs, FakeBus, FakeTenants } from '../tenants/fakes.ts';
import { fakeTerminal } from './terminal.ts';

function build(open = { sessions: 0, open: 0, closing: 0 }) {
  const tenants = new FakeTenants(aTenant('acme'));
  const acts = new FakeActs();
  const bus = new FakeBus();
  const asked: (readonly string[] | undefined)[] = [];
  const stores: StopStores = {
    tenants,
    acts,
    bus,
    history: {
      countOpen: () =>
        Promise.resolve({ matched: open.sessions, byState: { engaged: 0, idle: 0, stale: 0 }, byTenant: {} }),
    },
    calls: {
      countUnclosed(of) {
        asked.push(of);
        return Promise.resolve(open);
      },
    },
    close: () => Promise.resolve(),
  };
  const openStores = (): Promise<StopStores> => Promise.resolve(stores);
  return { terminal: { ...fakeTerminal(), openStores }, tenants, acts, bus, asked };
}

describe('stop', () => {
  test('stops everything, tells every server, and says what is still open', async () => {
    const { terminal, tenants, acts, bus, asked } = build({ sessions: 12, open: 3, closing: 1 });
    expect(await run('stop', ['--reason', 'a key leaked'], terminal)).toBe(0);
    expect(await tenants.stops()).toMatchObject([{ tenantId: null, actor: 'cli', reason: 'a key leaked' }]);
    expect(acts.rows).toMatchObject([{ action: 'service.stop', actor: 'cli', target: 'installation', result: 'done' }]);
    expect(bus.published).toEqual([{ type: 'tenants.changed' }]);
    expect(terminal.printed()).toMatch(
      /^Everything is stopped since .+Z \(cli\): "a key leaked"\.\nStill open: 12 sessions, 3 calls/,
    );
    expect(asked).toEqual([undefined]);
  });

  test('of a tenant says when nothing is open any more', async () => {
    const { terminal, asked, tenants } = build();
    expect(await run('stop', ['--tenant', 'acme', '--reason', ' '], terminal)).toBe(0);
    expect(await tenants.stops()).toMatchObject([{ tenantId: 'acme', reason: null }]);
    expect(terminal.printed()).toMatch(/^The tenant acme is stopped since .+\nNothing is open\.\n$/);
    expect(asked).toEqual([['acme']]);
  });

  test('of a tenant that is not there is refused, and so are arguments that are not understood', async () => {
    const { terminal, tenants } = build();
    expect(await run('stop', ['--tenant', 'nobody'], terminal)).toBe(1);
    expect(terminal.complained()).toContain('There is no tenant "nobody"');
    expect(await run('stop', ['--tennant', 'acme'], terminal)).toBe(64);
    expect(await run('stop', ['--reason', 'x'.repeat(501)], terminal)).toBe(64);
    expect(terminal.complained()).toContain('--reason has at most 500 characters');
    expect(await tenants.stops()).toEqual([]);
  });

  test('beside a server on the embedded database says where the switch is', async () => {
    const { terminal } = build();
    const openStores = (): Promise<StopStores> => Promise.reject(new DirectoryInUse('data', '1'));
    expect(await run('stop', [], { ...terminal, openStores })).toBe(69);
    expect(terminal.complained()).toContain('POST /api/operator/stop');
  });
});

describe('resume', () => {
  test('lifts a stop, and says what else is stopped', async () => {
    const { terminal, tenants } = build();
    await run('stop', [], terminal);
    await run('stop', ['--tenant', 'acme'], terminal);
    const before = terminal.printed();
    expect(await run('resume', [], terminal)).toBe(0);
    expect(terminal.printed().slice(before.length)).toBe(
      'Everything opens sessions again.\nStill stopped: the tenant acme.\n',
    );
    expect(await tenants.stops()).toMatchObject([{ tenantId: 'acme' }]);
    expect(await run('resume', [], terminal)).toBe(0);
    expect(terminal.printed()).toContain('Everything was not stopped.');
  });
});
