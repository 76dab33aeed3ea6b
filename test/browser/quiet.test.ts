import { describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { DemoPage } from './demo-page.ts';
import { soon } from '../support/soon.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
/** Shorter than the simulated conversation, and longer than a busy machine keeps a page waiting. */
const IDLE_SEC = 8;
/** The silence, half as much again until the next heartbeat, and time for a busy machine. */
const ENDED_MS = IDLE_SEC * 1500 + soon.timeout;

// These tests wait for silence, and need not wait for each other.
describe.skipIf(skipped !== undefined).concurrent(`A conversation in which nobody speaks ${skipped ?? ''}`, () => {
  useServer({ MAX_SESSION_IDLE_SEC: String(IDLE_SEC), HEARTBEAT_INTERVAL_SEC: '45' });

  test('goes on as long as somebody speaks, then goes idle, and ends with the reason on the page', async () => {
    const demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    // The simulated conversation alone lasts longer than the silence that is allowed.
    await demo.sees('#captions', 'We close at six today.');
    await demo.sees('#status', 'Engaged');
    await demo.button('Go quiet').click();
    await demo.sees('#notice', 'This conversation was quiet for too long and has ended.', ENDED_MS);
    await demo.sees('#status', 'Ended.');
    await demo.sees('#chart svg:visible .label.step', 'heartbeat');
    expect(demo.visit.frames.filter((frame) => frame.startsWith('< {"type":"state"'))).toEqual([
      '< {"type":"state","state":"idle"}',
    ]);
    expect(await server.session(demo.visit.sessionId)).toMatchObject({ endReason: 'idle_exceeded' });
    await demo.visit.end();
  });

  test('shows a warning before its end, and removes it once something happens again', async ({ onTestFinished }) => {
    const patient = await DemoServer.start({ MAX_SESSION_IDLE_SEC: '15', HEARTBEAT_INTERVAL_SEC: '45' });
    onTestFinished(() => patient.close());
    const demo = await DemoPage.open(browser, patient.direct);
    await demo.start();
    await demo.button('Go quiet').click();
    await demo.sees('#notice', 'It is very quiet: the conversation ends in');
    // On a slow machine the simulated conversation may be over by now; a report counts as activity in any case.
    await demo.button('Report 5,000 tokens').click();
    await demo.visit.page.locator('#notice').waitFor({ state: 'hidden', timeout: soon.timeout });
    await demo.sees('#status', 'Engaged');
    await demo.visit.end();
  });
});
