import { describe, expect, test } from 'vitest';
import { translateFault } from '../../src/database/faults.ts';
import { PATIENT, type Database } from '../../src/database/database.ts';
import { openExternal, awaitFirstAnswer } from '../../src/database/open.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { reasonToSkipPostgres, startPostgres } from '../support/services/postgres.ts';
import { freePort } from '../support/services/server-process.ts';

const missing = reasonToSkipPostgres();

/** A time that passes only through pauses; `meanwhile` runs during each of them. */
function waiting(meanwhile: (pauses: number) => unknown = () => undefined) {
  const time = { ms: 0, pauses: 0 };
  return {
    time,
    now: () => time.ms,
    async pause(ms: number) {
      time.ms += ms;
      time.pauses += 1;
      await meanwhile(time.pauses);
    },
  };
}

/** A database whose first pings fail with these codes; later ones succeed. */
function failing(...codes: readonly string[]) {
  let asked = 0;
  return {
    get asked() {
      return asked;
    },
    async ping() {
      const code = codes[asked];
      asked += 1;
      if (code !== undefined) throw new Unavailable('database', Object.assign(new Error(code), { code }));
    },
  };
}

describe('the first answer of a database', () => {
  test('is waited for while the server starts, stops or is too busy', async () => {
    const early = ['57P03', '57P01', '53300', 'NO_ANSWER', 'CONNECT_TIMEOUT', 'CONNECTION_CLOSED', 'ECONNRESET'];
    const database = failing(...early);
    await awaitFirstAnswer(database, waiting());
    expect(database.asked).toBe(early.length + 1);
  });

  test('is not waited for where no server listens, or the server refuses this user', async () => {
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', '28P01', '3D000', 'CERT_HAS_EXPIRED']) {
      const database = failing(code);
      await expect(awaitFirstAnswer(database, waiting())).rejects.toMatchObject({ cause: { code } });
      expect(database.asked).toBe(1);
    }
  });

  test('that is not an answer of TLS is not waited for', async () => {
    const message = 'Client network socket disconnected before secure TLS connection was established';
    const fault = translateFault(Object.assign(new Error(message), { code: 'ECONNRESET' }));
    await expect(awaitFirstAnswer({ ping: () => Promise.reject(fault) }, waiting())).rejects.toBe(fault);
  });

  test('is waited for eight seconds', async () => {
    const wait = waiting();
    const database = failing(...Array<string>(1000).fill('57P03'));
    await expect(awaitFirstAnswer(database, wait)).rejects.toThrow(Unavailable);
    expect(wait.time.ms).toBe(8_000);
  });

  test.skipIf(missing !== undefined)('comes from a server that was frozen while it was asked', async () => {
    const server = await startPostgres();
    const database = openExternal({ url: server.url });
    server.freeze();
    const wait = waiting((pauses) => pauses === 2 && server.thaw());
    await awaitFirstAnswer(database, wait);
    expect(wait.time.pauses).toBeGreaterThanOrEqual(2);
    await database.close();
    await server.stop();
  });

  test.skipIf(missing !== undefined)(
    'is waited for by a start, however long connecting takes, and by nothing else',
    async () => {
      const server = await startPostgres();
      const open = (isPatient: boolean): Database =>
        openExternal({ url: server.url, deadlineMs: 1, patience: { isPatient } });
      const [starting, serving] = [open(true), open(false)];
      server.freeze();
      const answer = starting.run((sql) => sql<{ one: number }[]>`select 1 as one`, PATIENT);
      await expect(serving.run((sql) => sql`select 1`, PATIENT)).rejects.toMatchObject({
        cause: { code: 'CONNECT_TIMEOUT' },
      });
      server.thaw();
      expect(await answer).toEqual([{ one: 1 }]);
      await Promise.all([starting.close(), serving.close()]);
      await server.stop();
    },
  );

  test('of an address where no server listens is an immediate refusal', async () => {
    const url = `postgres://somebody@127.0.0.1:${await freePort()}/nothing`;
    const database = openExternal({ url, deadlineMs: PATIENT_MS });
    const wait = waiting();
    await expect(awaitFirstAnswer(database, wait)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(wait.time.pauses).toBe(0);
    await database.close();
  });
});
