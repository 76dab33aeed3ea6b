import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inScope, otherScope, scopeOf } from '../../../src/web/console/data/scope.ts';

describe('The scope of the console', () => {
  test('is in the address of a list, and with one thing that of the list before', () => {
    expect(scopeOf('/console/sessions', { state: 'idle', tenantId: 'acme' })).toBe('acme');
    expect(scopeOf('/console/sessions/s:1', { at: '17' })).toBe('acme');
    expect(scopeOf('/console', {})).toBe('');
    expect(scopeOf('/console/refusals/req_1', {})).toBe('');
  });

  test('is carried along by links, unless they name a tenant or there is none', () => {
    expect(inScope('/console', 'acme')).toBe('/console?tenantId=acme');
    expect(inScope('/console/sessions?state=idle,stale', 'a&b')).toBe(
      '/console/sessions?state=idle,stale&tenantId=a%26b',
    );
    expect(inScope('/console/sessions?tenantId=globex', 'acme')).toBe('/console/sessions?tenantId=globex');
    expect(inScope('/console/usage', '')).toBe('/console/usage');
  });

  test('is changed where somebody is, with all else that is chosen there; from one thing it leads to the list', () => {
    const query = { state: 'idle,stale', tenantId: 'acme' };
    expect(otherScope('/console/sessions', query, 'globex')).toBe('/console/sessions?state=idle,stale&tenantId=globex');
    expect(otherScope('/console/sessions', query, '')).toBe('/console/sessions?state=idle,stale');
    expect(otherScope('/console/keys/acme/site', {}, 'globex')).toBe('/console/keys?tenantId=globex');
    expect(otherScope('/console/sessions/s:1/calls/c:1', {}, '')).toBe('/console/sessions');
  });
});

describe('Saved filters', () => {
  const kept = new Map<string, string>();
  const REF = `s:${'0a'.repeat(16)}:abcdefg`;

  beforeEach(() => {
    vi.resetModules();
    vi.stubGlobal('document', { documentElement: { dataset: {} } });
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
    });
  });

  afterEach(() => {
    vi.unstubAllGlobals();
    kept.clear();
  });

  const open = () => import('../../../src/web/console/data/saved-filters.ts');

  test('are there again in a page that comes later, the newest first, each name once, until they are removed', async () => {
    const { saveFilter } = await open();
    saveFilter('old', '/console/sessions?state=stale');
    saveFilter('mine', '/console/sessions?state=idle');
    saveFilter('old', '/console/sessions?state=stale&tenantId=acme');
    vi.resetModules();
    const { forgetFilter, savedFilters } = await open();
    expect(savedFilters.value).toEqual([
      { name: 'old', href: '/console/sessions?state=stale&tenantId=acme' },
      { name: 'mine', href: '/console/sessions?state=idle' },
    ]);
    forgetFilter('old');
    vi.resetModules();
    expect((await open()).savedFilters.value.map(({ name }) => name)).toEqual(['mine']);
  });

  test('have no address and no whole session id', async () => {
    const { saveFilter, savedFilters } = await open();
    for (const [name, q] of [
      ['who@acme.example', 'x'],
      ['typed', 'who@acme.example'],
      ['encoded', 'who%40acme.example'],
    ] as const)
      saveFilter(name, `/console/sessions?q=${q}`);
    expect(savedFilters.value).toEqual([]);
    for (const id of [REF, encodeURIComponent(REF)])
      saveFilter(id.slice(0, 3), `/console/sessions?q=${id}SECRET-1&sort=x`);
    expect([...kept.values()].join('\n')).not.toContain('SECRET');
    expect(savedFilters.value.map(({ href }) => decodeURIComponent(href))).toEqual([
      `/console/sessions?q=${REF}&sort=x`,
      `/console/sessions?q=${REF}&sort=x`,
    ]);
  });

  test.each(['{', 'null', '[null, 1, {"name": "x"}]', '[{"name": "x", "href": "https://evil.example/"}]'])(
    'are none where the browser has %s',
    async (text) => {
      kept.set('switchboard.console.filters', text);
      expect((await open()).savedFilters.value).toEqual([]);
    },
  );
});
