import { describe, expect, test } from 'vitest';
import { carryOver } from '../../src/app/background.ts';
import { refOf } from '../../src/kernel/ids.ts';
import { service } from '../support/app.ts';
import { SECOND } from '../support/clock.ts';
import { moveToFormerTables } from '../support/former-tables.ts';
import { app, useApp } from '../support/use-apps.ts';

const { database } = useApp();

describe('What a build from before the journal wrote', () => {
  const read = async (path: string): Promise<string> =>
    JSON.stringify((await app.get(`/api/operator/${path}`, service)).body);

  test('is returned by the operator API to the byte after its migration', async () => {
    await app.service.presence.write();
    const id = await app.open(await app.key());
    app.clock.advance(6 * 60 * SECOND);
    await app.sweep();
    await app.post('/api/auth/usage', { sm_session_id: id, tokens: 30, dollars: 0.5 });
    await app.post(`/api/operator/sessions/${encodeURIComponent(id)}/end`, { reason: 'for a test' }, service);
    await app.post('/api/realtime/heartbeat', { sm_session_id: id });
    await app.post('/api/nowhere', {}, { origin: 'https://elsewhere.example' });
    await app.service.journalWriter.flush();
    const ref = encodeURIComponent(refOf(id));
    const paths = [
      `sessions/${ref}`,
      `sessions/${ref}/events`,
      'refusals?code=SESSION_DURATION_EXCEEDED',
      `audit?target=${ref}`,
      'audit?action=session.end',
      'changes',
      'refusals?code=NOT_FOUND',
    ];
    const before = await Promise.all(paths.map(read));
    expect(before[0]).toMatch(/"kind":"ended".*"kind":"usage".*"kind":"started"/);
    expect(before[3]).toContain('"reason":"for a test"');
    expect(before[2]).toContain('"layer":"machine"');
    expect(before[5]).toContain('A process started on');
    await moveToFormerTables(database());
    expect(await read(`sessions/${ref}/events`)).toBe('{"events":[],"nextCursor":null}');
    await carryOver({ stores: app.service.stores, clock: app.clock });
    expect(await Promise.all(paths.map(read))).toEqual(before);
  });
});
