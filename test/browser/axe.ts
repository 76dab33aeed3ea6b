import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

interface Looks {
  /** False if an earlier check has already seen the same colours. */
  readonly colours?: boolean;
  /** Checks only this element: what is around it was checked before. */
  readonly inside?: string | undefined;
  /** The dark theme is checked for colours only: everything else is the same as in the light one. */
  readonly themes?: readonly ('light' | 'dark')[];
}

/** What axe finds wrong with the page as it is now, one line for each finding. */
export async function violations(
  page: Page,
  { colours = true, inside, themes = colours ? ['light', 'dark'] : ['light'] }: Looks = {},
): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(source);
  // A dialog is drawn a moment before it opens.
  if (inside !== undefined) await page.locator(inside).first().waitFor();
  const found: string[] = [];
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const rules = colours ? {} : { rules: { 'color-contrast': { enabled: false } } };
    const asked = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : rules;
    found.push(...(await run(page, inside, asked)).map((one) => `${colorScheme}: ${one}`));
  }
  return found;
}

async function run(page: Page, inside: string | undefined, options: object): Promise<string[]> {
  // Axe lists violations only and does not fetch style sheets again: those two take most of its time.
  const all = JSON.stringify({ resultTypes: ['violations'], preload: false, ...options });
  const where = inside === undefined ? 'document' : JSON.stringify({ include: [inside] });
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(${where}, ${all}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} ${node.target.join(' ')}: ${node.failureSummary}`),
  );
}
