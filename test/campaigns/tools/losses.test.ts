import { expect, test } from 'vitest';
import { lossOf } from './losses.ts';

const kills = [
  { sentAtMs: 1000, goneAtMs: 1100 },
  { sentAtMs: 6000, goneAtMs: 6100 },
];
const KEPT_WITHIN_MS = 300;

test.each([
  ['was told to a node that was dead already', 6010, { atMs: 6120, code: 1006 }, 'dead'],
  ['was told to a node that died before it could keep it', 5800, { atMs: 6120, code: 1006 }, 'killed'],
  ['was told to a node that lived for long enough to keep it', 5600, { atMs: 6120, code: 1006 }, 'unknown'],
  ['was told to a node that let go of the call itself', 5800, { atMs: 6120, code: 1000 }, 'unknown'],
  ['was told to a node that nobody killed', 3000, { atMs: 3100, code: 1006 }, 'unknown'],
  ['was told to a node that is still connected', 3000, undefined, 'unknown'],
])('A call of a tool that %s', (_, atMs, end, why) => {
  const asked = { id: 'call_0_0', atMs, outputs: [], ...(end && { end }) };
  expect(lossOf(asked, kills, KEPT_WITHIN_MS)).toMatchObject({ why });
});
