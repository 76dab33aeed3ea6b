import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inScope, otherScope, scopeOf } from '../../../src/web/console/data/scope.ts';

describe('The scope of the console', () => {
  test('is in the address of a list, and on a detail page it is that of the list before', () => {
    expect(scopeOf('/console/sessions', { state: 'idle', tenantId: 'acme' })).toBe('acme');
    expect(scopeOf('/console/sessions/s:1', { at: '17' })).toBe('acme');
    expect(scopeOf('/console', {})).toBe('');
    expect(scopeOf('/console/refusals/req_1', {})).toBe('');
  });

  test('is kept by links, unless they name a tenant or there is none', () => {
    expect(inScope('/console', 'acme')).toBe('/console?tenantId=acme');
    expect(inScope('/console/sessions?state=idle,stale', 'a&b')).toBe(
      '/console/sessions?state=idle,stale&tenantId=a%26b',
    );
    expect(inScope('/console/sessions?tenantId=globex', 'acme')).toBe('/console/sessions?tenantId=globex');
    expect(inScope('/console/usage', '')).toBe('/console/usage');
  });

  test('changes on the present list, whose other filters stay; from a detail page it leads to the list', () => {
    const query = { state: 'idle,stale', tenantId: 'acme' };
    expect(otherScope('/console/sessions', query, 'globex')).toBe('/console/sessions?state=idle,stale&tenantId=globex');
    expect(otherScope('/console/sessions', query, '')).toBe('/console/sessions?state=idle,stale');
    expect(otherScope('/console/keys/acme/site', {}, 'globex')).toBe('/console/keys?tenantId=globex');
    expect(otherScope('/console/sessions/s:1/calls/c:1', {}, '')).toBe('/console/sessions');
  });
});

describe('Saved views', () => {
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

  const open = () => import('../../../src/web/console/data/saved-views.ts');

  /** What the page sent to the server, which answers every save with `status`. */
  function serve(status: number): unknown[] {
    const sent: unknown[] = [];
    vi.stubGlobal('fetch', async (_: string, { method, body }: RequestInit) => {
      if (method !== 'POST') return Response.json({ views: [] });
      const view = JSON.parse(body as string) as object;
      sent.push(view);
      return Response.json(status === 201 ? { view: { id: 'view_1', ...view } } : { code: 'X', error: 'x' }, {
        status,
      });
    });
    return sent;
  }

  test('that this browser stored are sent to the server once', async () => {
    kept.set(FORMERLY, JSON.stringify([{ name: 'old', href: `/console/sessions?q=${REF}SECRET-1` }, null]));
    const sent = serve(201);
    const { readViews } = await open();
    for (let n = 0; n < 2; n += 1) await readViews();
    expect(sent).toEqual([{ name: 'old', href: `/console/sessions?q=${REF}` }]);
    expect(kept.get(FORMERLY)).toBe('[]');
  });

  test('stay in this browser while the server is away', async () => {
    const text = JSON.stringify([{ name: 'old', href: '/console/sessions?state=idle' }]);
    kept.set(FORMERLY, text);
    serve(503);
    await (await open()).readViews();
    expect(kept.get(FORMERLY)).toBe(text);
  });

  test.each(['{', 'null', '[null, 1, {"name": "x"}]'])('do not exist if the browser has %s', async (text) => {
    kept.set(FORMERLY, text);
    const sent = serve(201);
    await (await open()).readViews();
    expect(sent).toEqual([]);
  });
});

const FORMERLY = 'switchboard.console.filters';
