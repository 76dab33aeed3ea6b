/**
 * Draws the card that chats and social networks show for a link to a page of the service: `npm run card`. It is 1200 by 630, the size that most
 * of them ask for, and it needs `chromium`, because few of them accept an SVG.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const read = (name) => readFileSync(new URL(`../../src/web/${name}`, import.meta.url), 'utf8');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 }, colorScheme: 'light' });
  await page.setContent(`<!doctype html>
    <style>
      ${read('shared/tokens.css')}
      body { box-sizing: border-box; height: 630px; margin: 0; padding: 96px; border-bottom: 16px solid var(--accent);
        background: var(--ground); color: var(--ink); font: 40px/1.35 var(--font) }
      h1 { display: flex; align-items: center; gap: 28px; margin: 0 0 48px; font-size: 56px }
      svg { width: 96px; height: 96px }
      p { margin: 0; color: var(--ink-soft) }
      .claim { margin-bottom: 32px; color: var(--ink); font-size: 64px; line-height: 1.15; font-weight: 650 }
    </style>
    <h1>${read('static/mark.svg')}Switchboard</h1>
    <p class="claim">Voice agents on your page, within limits that hold</p>
    <p>An open-source session broker for real-time voice agents</p>`);
  await page.screenshot({ path: fileURLToPath(new URL('../../src/web/static/share.png', import.meta.url)) });
} finally {
  await browser.close();
}
