import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type * as Ending from '../../../src/web/console/data/ending.ts';
import type * as Identity from '../../../src/web/console/data/identity.ts';
import type * as Live from '../../../src/web/console/data/live.ts';
import type * as ServerTime from '../../../src/web/console/data/server-time.ts';

/** After how long without news the service counts as lost. */
const LOST_MS = 60_000;

let ending: typeof Ending;
let identity: typeof Identity;
let live: typeof Live;
let time: typeof ServerTime;

beforeEach(async () => {
  // Test files that ran before may have left modules loaded.
  vi.resetModules();
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('location', { origin: 'http://console.example' });
  const data = '../../../src/web/console/data';
  [ending, identity, live, time] = await Promise.all([
    import(`${data}/ending.ts`) as Promise<typeof Ending>,
    import(`${data}/identity.ts`) as Promise<typeof Identity>,
    import(`${data}/live.ts`) as Promise<typeof Live>,
    import(`${data}/server-time.ts`) as Promise<typeof ServerTime>,
  ]);
  identity.me.value = { can: ['see', 'change'] } as unknown as typeof identity.me.value;
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetModules();
});

function lose(): void {
  live.retryAt.value = time.now.value;
  live.heardAt.value = time.now.value - LOST_MS;
}

describe('Sessions can be ended in the console', () => {
  test('by users who may, while the service answers', () => {
    expect(ending.whyNoEnd()).toBeUndefined();
  });

  test('but not by users who may only look', () => {
    identity.me.value = { can: ['see'] } as unknown as typeof identity.me.value;
    expect(ending.whyNoEnd()).toBe('Your role may look, and ends nothing.');
  });

  test('but not while the service is lost', () => {
    lose();
    expect(ending.whyNoEnd()).toBe('The service does not answer: nothing is ended until it does.');
  });

  test('but not while the service answers without its database', () => {
    lose();
    live.isUnread.value = true;
    expect(ending.whyNoEnd()).toBe('The database does not answer: nothing is ended until it does.');
  });
});
