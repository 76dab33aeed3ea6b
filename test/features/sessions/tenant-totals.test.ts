import { describe, expect, test } from 'vitest';
import type { KeyTotals, WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { SERVICE_TOKEN, somebody, unique, type Reply } from '../../support/app.ts';
import { app, useApp } from '../../support/use-apps.ts';

useApp();

const codeOf = ({ status, body }: Reply) => (status === 200 ? 'opened' : body['code']);
const stranger = (key: WidgetKey) => app.create(key, { email: somebody() });

/** Two keys of a tenant that has these ceilings over all its keys. */
async function keysOf(totals: KeyTotals): Promise<[WidgetKey, WidgetKey]> {
  const tenantId = unique('tenant');
  await app.service.stores.tenants.merge([{ id: tenantId, name: 'T', agents: [], admins: null, keys: [], totals }]);
  return [await app.key({ tenantId }), await app.key({ tenantId, totals: { dollarsDaily: 1000 } })];
}

async function visit(key: WidgetKey): Promise<{ id: string; email: string }> {
  const email = somebody();
  return { id: await app.open(key, { email }), email };
}

function report({ id, email }: { id: string; email: string }, tokens: number): Promise<Reply> {
  return app.post('/api/auth/usage', { sm_session_id: id, email, tokens, dollars: 0 });
}

const endReasonOf = async ({ id }: { id: string }) => (await app.sessions.find(id))?.endReason;

async function leverOf(reply: Reply): Promise<unknown> {
  await app.service.journalWriter.flush();
  const asked = `/api/operator/refusals?requestId=${String(reply.headers['x-request-id'])}`;
  const { body } = await app.get(asked, { authorization: `Bearer ${SERVICE_TOKEN}` });
  return (body['refusal'] as { lever: unknown }).lever;
}

describe('The ceilings of a tenant', () => {
  test('hold over all its keys for sessions at once, also when many creates race', async () => {
    const [one, other] = await keysOf({ concurrentSessions: 3 });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => stranger(n % 2 === 0 ? one : other)));
    const codes = replies.map(codeOf);
    expect(codes.filter((code) => code === 'opened')).toHaveLength(3);
    expect(codes.filter((code) => code === 'MAX_CONCURRENT_SESSIONS')).toHaveLength(17);
    const refused = await stranger(other);
    expect(refused.body['error']).toBe('3 sessions of this tenant are open already; try again when one has ended.');
    expect(await leverOf(refused)).toBe('totals.concurrentSessions of the tenant');
  });

  test('hold over all its keys for sessions a minute, and take nothing from another tenant', async () => {
    const [one, other] = await keysOf({ sessionsPerMinute: 2 });
    expect([codeOf(await stranger(one)), codeOf(await stranger(other))]).toEqual(['opened', 'opened']);
    const refused = await stranger(one);
    expect(codeOf(refused)).toBe('RATE_LIMIT_EXCEEDED');
    expect(await leverOf(refused)).toBe('totals.sessionsPerMinute of the tenant');
    expect(codeOf(await stranger(await app.key()))).toBe('opened');
  });

  test('let nobody begin once the day is used up, by whichever key', async () => {
    const [one, other] = await keysOf({ tokensDaily: 100 });
    const visitor = await visit(one);
    expect(codeOf(await report(visitor, 100))).toBe('opened');
    const refused = await stranger(other);
    expect(codeOf(refused)).toBe('DAILY_QUOTA_EXCEEDED');
    expect(await leverOf(refused)).toBe('totals.tokensDaily of the tenant');
    expect(await endReasonOf(visitor)).toBeNull();
  });

  test('end the sessions of all its keys when the day exceeds them, and of no other tenant', async () => {
    const [one, other] = await keysOf({ tokensDaily: 100 });
    const [first, second, stranger] = [await visit(one), await visit(other), await visit(await app.key())];
    expect(codeOf(await report(second, 101))).toBe('DAILY_QUOTA_EXCEEDED');
    expect([await endReasonOf(first), await endReasonOf(second)]).toEqual(['quota_exceeded', 'quota_exceeded']);
    expect(await endReasonOf(stranger)).toBeNull();
  });
});
