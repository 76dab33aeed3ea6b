import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/**
 * What axe finds on the page as it is now, in short: everything in the light, and in the dark the colours, since all else is the same.
 * @param options.colours false where a look before has seen the same colours
 */
export async function violations(page: Page, { colours = true } = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  if (!colours) return run(page, { rules: { 'color-contrast': { enabled: false } } });
  const light = await run(page, {});
  await page.emulateMedia({ colorScheme: 'dark' });
  // A page that is told of it by an event is told before its next frame.
  await page.evaluate('new Promise(requestAnimationFrame)');
  const dark = await run(page, { runOnly: ['color-contrast'] });
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark.map((found) => `dark: ${found}`)];
}

async function run(page: Page, options: object): Promise<string[]> {
  // What is right is not described, and no style sheet is fetched again: these take most of its time.
  const all = JSON.stringify({ resultTypes: ['violations'], preload: false, ...options });
  const found = await page.evaluate<readonly Violation[]>(`axe.run(${all}).then(({ violations }) => violations)`);
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} ${node.target.join(' ')}: ${node.failureSummary}`),
  );
}
