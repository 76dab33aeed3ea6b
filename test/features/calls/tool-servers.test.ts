import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { withDemoTool } from '../../../src/app/tools.ts';
import { requireToolServers } from '../../../src/app/file-faults.ts';
import type { Outbound } from '../../../src/outbound/contract.ts';
import { readTenantsFile } from '../../../src/tenants/tenants-file.ts';
import { ManualClock } from '../../support/clock.ts';
import { aTenant } from '../tenants/fakes.ts';

describe('The tools of the server in the tenants file', () => {
  const outbound = { allowCidrs: new BlockList(), allowPorts: [] };
  const seals: [Buffer] = [Buffer.alloc(32)];
  const tenants = (url: string) => [
    aTenant('acme', { agents: [{ id: 'support', tools: [{ kind: 'server_tool', name: 'look_up', url }] }] }),
  ];

  test.each([
    [
      'http://api.acme.example/',
      'development',
      seals,
      /look_up of the agent acme\/support: has an address that must start/,
    ],
    ['https://api.acme.example:8443/', 'development', seals, /has the port 8443/],
    ['https://api.acme.example/', 'production', undefined, /cannot be called: .* SEALING_KEY/],
  ] as const)('are refused at %s in %s', (url, mode, sealingKeys, words) => {
    const check = (): void => requireToolServers(tenants(url), 'tenants.json', { outbound, mode, sealingKeys });
    expect(check).toThrow(words);
  });

  test.each([
    ['production', seals],
    ['development', undefined],
  ] as const)('are accepted in %s if requests to them can be signed', (mode, sealingKeys) => {
    const given = tenants('https://api.acme.example/');
    expect(() => requireToolServers(given, 'tenants.json', { outbound, mode, sealingKeys })).not.toThrow();
  });
});

describe('The tool of the demo', () => {
  const clock = new ManualClock();
  const asked: string[] = [];
  const guarded: Outbound = {
    request: (request) => {
      asked.push(request.url.href);
      return Promise.reject(new Error('not here'));
    },
    check: async () => undefined,
    close: () => undefined,
  };

  /** What the server answers to these arguments. */
  async function answer(given: object): Promise<unknown> {
    const [demo] = await readTenantsFile('config/tenants.json', 0);
    const url = new URL(String(demo?.agents[0]?.tools?.[0]?.['url']));
    const body = JSON.stringify({ data: { arguments: given } });
    const outbound = withDemoTool(guarded, clock);
    const reply = await outbound.request({
      method: 'POST',
      url,
      owner: 'demo',
      session: 'visitor',
      headers: {},
      body,
      timeoutMs: 1,
      maxReplyBytes: 1,
    });
    return JSON.parse(reply.body.toString()) as unknown;
  }

  test('returns the opening hours of a day, by default of today', async () => {
    expect(await answer({ date: '2026-12-24' })).toEqual({ date: '2026-12-24', opens: '10:00', closes: '18:00' });
    expect(await answer({ date: '2026-12-28' })).toEqual({ date: '2026-12-28', closed: true });
    expect(await answer({ date: 'soon' })).toEqual({ error: 'date must be YYYY-MM-DD' });
    expect(await answer({})).toMatchObject({ date: new Date(clock.now()).toISOString().slice(0, 10) });
    expect(asked).toEqual([]);
  });

  test('leaves every other request to the guard, even one that looks similar', async () => {
    const outbound = withDemoTool(guarded, clock);
    for (const href of ['https://museum.invalid/other', 'https://museum.invalid.example/opening-hours']) {
      const url = new URL(href);
      const more = { owner: 'demo', session: 'visitor', headers: {}, timeoutMs: 1, maxReplyBytes: 1 };
      await expect(outbound.request({ method: 'POST', url, ...more })).rejects.toThrow('not here');
    }
    expect(asked).toHaveLength(2);
  });
});
