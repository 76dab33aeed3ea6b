import { expect, test } from 'vitest';
import type { Operator } from '../../../src/operators/roles.ts';
import { Watcher } from '../../../src/feed/watcher.ts';
import type { Socket } from '../../../src/kernel/socket.ts';
import type { FeedFact, FeedFrame } from '../../../src/protocol/operator/feed.ts';

const viewer: Operator = { actor: 'vera@example.com', role: 'viewer', tenants: '*' };
const admin: Operator = { actor: 'vera@example.com', role: 'tenant_admin', tenants: ['globex'] };

function changed(tenantId: string): FeedFact {
  const at = '2030-01-01T12:00:00.000Z';
  const of = { tenantId, agentId: null, keyId: null, caller: 'widget' } as const;
  const change = {
    ref: tenantId,
    state: 'idle',
    was: 'engaged',
    reason: null,
    at,
    deadline: null,
    next: null,
  } as const;
  return { kind: 'session', change: { ...change, ...of } };
}

test('A watcher gets nothing that was gathered for somebody who may see more than it may by now', () => {
  const sent: FeedFrame[] = [];
  const socket: Socket = {
    send(text) {
      sent.push(JSON.parse(text) as FeedFrame);
      return 'sent';
    },
    close() {},
  };
  const watcher = new Watcher(socket, {
    node: 'one',
    isLossy: () => false,
    now: () => 5000,
    onWatch() {},
    onClosed() {},
  });
  watcher.admit(viewer);
  watcher.message(JSON.stringify({ type: 'watch', topics: ['sessions', 'refusals'] }));
  watcher.tell(changed('acme'));
  watcher.tell({
    kind: 'refusals',
    counts: [{ code: 'BOT_BLOCKED', tenantId: 'acme', keyId: null, n: 1 }],
    samples: [],
  });
  watcher.admit(admin);
  watcher.flush();
  expect(sent.map(({ type }) => type)).toEqual(['hello', 'gap']);
  watcher.tell(changed('globex'));
  watcher.admit(admin);
  watcher.flush();
  expect(sent.at(-1)).toMatchObject({ type: 'sessions', changes: [{ tenantId: 'globex' }] });
});
