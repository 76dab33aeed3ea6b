import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { referencePages, referencePath } from '../../src/site/reference/groups.ts';
import { useApps } from '../support/use-apps.ts';

const built = fileURLToPath(new URL('../../dist/web/', import.meta.url));
const { build } = useApps();

describe('The API reference as it is served', () => {
  test.each(['/docs', ...referencePages.map((page) => referencePath(page))])(
    '%s takes at most 45 kB over the wire with everything that it loads',
    async (path) => {
      const app = await build();
      const plain = await app.get(path);
      const assets = [...plain.text.matchAll(/"\/(docs\/assets\/[^"]+)"/g)].map(([, name = '']) => name);
      expect(assets.map((name) => name.slice(name.lastIndexOf('.') + 1)).toSorted()).toEqual(['css', 'js']);
      const packed = await app.get(path, { 'accept-encoding': 'gzip' });
      expect(packed.headers['content-encoding']).toBe('gzip');
      const page = gzipSync(plain.text, { level: 9 }).length;
      const size = assets.reduce((sum, name) => sum + readFileSync(`${built}${name}.gz`).length, page);
      expect(size).toBeLessThanOrEqual(45_000);
      expect(size).toBeGreaterThan(5_000);
    },
  );

  test('is not sent again to clients that have it, compressed or not', async () => {
    const app = await build();
    const tags = [];
    for (const encoding of ['gzip', 'identity']) {
      const { headers } = await app.get('/docs', { 'accept-encoding': encoding });
      expect(headers['vary']).toContain('Accept-Encoding');
      const tag = String(headers['etag']);
      tags.push(tag);
      const again = await app.get('/docs', { 'accept-encoding': encoding, 'if-none-match': tag });
      expect([again.status, again.text]).toEqual([304, '']);
    }
    expect(new Set(tags).size).toBe(2);
  });

  test('loads only from this origin, runs no inline script, and lets its files be cached for ever', async () => {
    const app = await build();
    const { text, headers } = await app.get('/docs/');
    expect(headers['content-security-policy']).toMatch(/default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(text).not.toMatch(/<script(?![^>]* src="\/)| style=|src="https?:/);
    const [, script = ''] = /src="(\/docs\/assets\/[^"]+)"/.exec(text) ?? [];
    expect((await app.get(script)).headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });
});
