import axe from 'axe-core';
import type { Page } from 'playwright-core';

export const schemes = ['light', 'dark'] as const;

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** What axe finds on the page as it is now, in short; in the dark of its colours only, since all else is as in the light. */
export async function violations(page: Page, colorScheme: (typeof schemes)[number] = 'light'): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  // What is right is not described, which takes most of its time.
  const options = { resultTypes: ['violations'], ...(colorScheme === 'dark' && { runOnly: ['color-contrast'] }) };
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} ${node.target.join(' ')}: ${node.failureSummary}`),
  );
}
