/**
 * Records the README's animation from the real demo page: `npm run build && npm run animation`. It starts the service with an empty
 * directory, opens /demo in Chromium and has a conversation with the echo. Needs `chromium` and `img2webp` (Debian: webp).
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const FRAME_MS = 200;
const size = { width: 1240, height: 900 };
const root = fileURLToPath(new URL('../..', import.meta.url));

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function untilReady(url) {
  for (;;) {
    const reply = await fetch(`${url}/healthz`).catch(() => undefined);
    if (reply?.ok) return;
    await pause(100);
  }
}

/** Films a page while `play` runs. @returns the frames' files in order */
async function film(page, directory, play) {
  const frames = [];
  const played = new AbortController();
  const playing = play().finally(() => played.abort());
  while (!played.signal.aborted) {
    const path = join(directory, `${String(frames.length).padStart(4, '0')}.png`);
    await Promise.all([page.screenshot({ path, animations: 'allow' }), pause(FRAME_MS)]);
    frames.push(path);
  }
  await playing;
  return frames;
}

const scratch = await mkdtemp(join(tmpdir(), 'switchboard-film-'));
const port = await freePort();
const url = `http://localhost:${port}`;
const env = { ...process.env, PORT: String(port), NODE_ENV: 'development', DATA_DIR: join(scratch, 'data') };
const server = spawn(process.execPath, [join(root, 'dist/main.js')], { cwd: scratch, env, stdio: 'ignore' });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    '--allow-loopback-in-peer-connection',
  ],
});
try {
  await untilReady(url);
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: size, colorScheme, permissions: ['microphone'] });
    const page = await context.newPage();
    await page.goto(`${url}/demo`);
    const click = async (name) => {
      // Clicks by script: a click of the driver would scroll the button to the edge of the picture.
      await page
        .getByRole('button', { name, exact: true })
        .first()
        .evaluate((button) => button.click());
      await pause(1800);
    };
    const frames = await film(page, await mkdtemp(join(scratch, 'frames-')), async () => {
      await pause(1200);
      await click('Start a conversation');
      await page.locator('#media', { hasText: 'connected' }).waitFor();
      await pause(3000);
      // The fake microphone beeps without a pause: the echo answers only once it is muted.
      await click('Mute');
      await pause(1500);
      await click('End');
      await pause(1500);
    });
    const out = join(root, `docs/pictures/demo-${colorScheme}.webp`);
    execFileSync('img2webp', [
      '-loop',
      '0',
      '-lossy',
      '-q',
      '60',
      '-m',
      '6',
      '-d',
      String(FRAME_MS),
      ...frames,
      '-o',
      out,
    ]);
    console.log(`${out}: ${frames.length} frames`);
    await context.close();
  }
} finally {
  await browser.close();
  server.kill();
  await rm(scratch, { recursive: true, force: true });
}
