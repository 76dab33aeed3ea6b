import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import type { JournalQuery } from '../../src/stores/journal/contract.ts';
import { createPostgresFormerTables } from '../../src/stores/journal/former-tables.ts';
import { createPostgresJournal } from '../../src/stores/journal/postgres.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { DAY_BEGIN } from './support.ts';

/** @param nodes the connections of two nodes to one migrated database */
export function formerTablesContract(name: string, nodes: () => readonly [Database, Database]): void {
  describe(`what builds before the journal wrote, ${name}`, () => {
    const carryAll = async (atMs = DAY_BEGIN, chunk?: number): Promise<void> => {
      while (await createPostgresFormerTables(nodes()[1], chunk).carrySome(atMs));
    };
    const list = async (target: string) =>
      (
        await createPostgresJournal(nodes()[0]).list(
          { kinds: ['transition', 'note'], tenants: '*', machine: 'voice-session', target },
          undefined,
          5000,
        )
      ).entries;
    const writeEvents = (actor: string, count: number) =>
      nodes()[0].run(
        (sql) => sql`
          insert into actor_event (machine, actor, version, at_ms, kind, event, from_state, to_state, steps, guards, detail, node)
          select 1, ${actor}, n, ${DAY_BEGIN}::int8 + n / 3, 'moved', 'CLOCK', 'engaged', 'idle', '[]', '[]', '{"reason": null}', 'one'
          from generate_series(1, ${count}::int4) as n`,
      );

    test('is in the journal, in its place, after it was carried over', async () => {
      const actor = randomId();
      const journal = createPostgresJournal(nodes()[0]);
      await journal.append([
        {
          id: randomId(),
          kind: 'note',
          atMs: DAY_BEGIN + 1,
          node: 'two',
          requestId: null,
          of: { machine: 'voice-session', target: actor },
          code: 'gap',
          detail: { silentSec: 80 },
        },
      ]);
      await nodes()[0].run(
        (sql) => sql`
          insert into actor_event (machine, actor, version, at_ms, kind, event, from_state, to_state, steps, guards, detail, node, request_id)
          values (1, ${actor}, 1, ${DAY_BEGIN}, 'started', 'OPEN', null, 'engaged', '[]', '[{"name": "isOpen", "passed": true}]',
              '{"reason": null, "lastSeenAtMs": 5}', 'one', 'req_1'),
            (1, ${actor}, null, ${DAY_BEGIN + 1}, 'detached', null, null, null, '[]', '[]', '{"code": 1006}', 'one', null),
            (1, ${actor}, 2, ${DAY_BEGIN + 2}, 'ended', 'END', 'engaged', 'ended', '[]', '[]', '{}', 'one', null)`,
      );
      await carryAll();
      const found = await list(actor);
      expect(found).toMatchObject([
        { kind: 'transition', code: 'END', detail: { change: 'ended', from: 'engaged', to: 'ended', version: 2 } },
        { kind: 'note', code: 'gap' },
        { kind: 'note', code: 'detached', node: 'one', detail: { code: 1006 } },
        {
          kind: 'transition',
          code: 'OPEN',
          requestId: 'req_1',
          of: { machine: 'voice-session', target: actor },
          detail: {
            change: 'started',
            from: null,
            to: 'engaged',
            steps: [],
            guards: [{ name: 'isOpen', passed: true }],
            version: 1,
            record: { reason: null, lastSeenAtMs: 5 },
          },
        },
      ]);
    });

    test('is carried over by several nodes at once, in chunks, without loss or duplicates, even while more is written', async () => {
      const actor = randomId();
      await writeEvents(actor, 300);
      const some = nodes().map((node) => createPostgresFormerTables(node, 40));
      await Promise.all([...some, ...some].map((former) => former.carrySome(DAY_BEGIN)));
      await writeEvents(actor, 100);
      await Promise.all([carryAll(DAY_BEGIN, 40), carryAll(DAY_BEGIN, 30)]);
      await carryAll();
      const versions = (await list(actor)).map((one) => (one.kind === 'transition' ? one.detail.version : 0));
      expect(versions.toSorted((one, other) => one - other)).toEqual(
        [...Array.from({ length: 300 }, (_, n) => n + 1), ...Array.from({ length: 100 }, (_, n) => n + 1)].toSorted(
          (one, other) => one - other,
        ),
      );
    });

    test('keeps its order within one millisecond', async () => {
      const actor = randomId();
      await writeEvents(actor, 20);
      await carryAll(DAY_BEGIN, 7);
      const versions = (await list(actor)).map((one) => (one.kind === 'transition' ? one.detail.version : 0));
      expect(versions).toEqual(Array.from({ length: 20 }, (_, n) => 20 - n));
    });

    test('about refusals is found by request, code and key as before', async () => {
      const [tenantId, requestId] = [randomId(), randomId()];
      await nodes()[0].run(
        (sql) => sql`
          insert into refusal (request_id, at_ms, code, status, layer, route, tenant_id, key_id, subject, network, detail, node)
          values (${requestId}, ${DAY_BEGIN}, 'BOT_BLOCKED', 403, 'bot', '/api/session', ${tenantId}, 'site', 'someone', '192.0.2.0/24',
            '{"limit": 3, "lever": "BOT_PROVIDER"}', 'one')`,
      );
      await carryAll();
      const query: JournalQuery<'refusal'> = { kinds: ['refusal'], tenants: [tenantId] };
      for (const filter of [{ requestId }, { code: 'BOT_BLOCKED' }, { keyId: 'site' }, { network: '192.0.2.0/24' }])
        expect(
          (await createPostgresJournal(nodes()[0]).list({ ...query, ...filter }, undefined, 5)).entries,
        ).toMatchObject([
          {
            code: 'BOT_BLOCKED',
            requestId,
            of: { tenantId, keyId: 'site', subject: 'someone' },
            detail: {
              status: 403,
              layer: 'bot',
              route: '/api/session',
              origin: null,
              addressHash: null,
              network: '192.0.2.0/24',
              limit: 3,
              lever: 'BOT_PROVIDER',
            },
          },
        ]);
    });

    test('about acts waits for its result for at most two minutes', async () => {
      const target = randomId();
      const LONGEST = 120_000;
      await nodes()[0].run(
        (sql) => sql`
          insert into audit (at_ms, actor, role, action, target, tenant_id, reason, request_id, batch_id, result, count)
          values (${DAY_BEGIN}, 'ops@example.com', 'operator', 'key.pause', ${target}, 'acme', 'why', 'req_1', null, 'done', 2),
            (${DAY_BEGIN}, 'cli', null, 'key.resume', ${target}, null, null, null, ${`batch ${target}`}, null, null)`,
      );
      const acts = async () =>
        (await createPostgresJournal(nodes()[0]).list({ kinds: ['act'], tenants: '*', target }, undefined, 5)).entries;
      const paused = {
        node: null,
        requestId: 'req_1',
        of: { actor: 'ops@example.com', target, tenantId: 'acme' },
        code: 'key.pause',
        detail: { role: 'operator', reason: 'why', result: 'done', count: 2 },
      };
      await carryAll(DAY_BEGIN + LONGEST);
      expect(await acts()).toMatchObject([paused]);
      await carryAll(DAY_BEGIN + LONGEST + 1);
      expect(await acts()).toMatchObject([
        {
          of: { actor: 'cli', target, batchId: `batch ${target}` },
          code: 'key.resume',
          detail: { role: null, reason: null, result: null, count: null },
        },
        paused,
      ]);
    });

    test('about processes says when they started and stopped', async () => {
      const prefixes = [randomId().slice(0, 8), randomId().slice(0, 8)] as const;
      await nodes()[0].run(
        (sql) => sql`
          insert into node_run (prefix, node, host, version, config_hash, shard, started_at_ms, stopped_at_ms)
          values (${prefixes[0]}, 'one', 'voice-1', '0.1.0', 'hash', 7, ${DAY_BEGIN}, ${DAY_BEGIN + 5}),
            (${prefixes[1]}, 'two', 'voice-2', '0.1.0', 'hash', 8, ${DAY_BEGIN}, null)`,
      );
      await carryAll();
      const found = async (target: string) =>
        (await createPostgresJournal(nodes()[0]).list({ kinds: ['process'], tenants: '*', target }, undefined, 5))
          .entries;
      const detail = { host: 'voice-1', version: '0.1.0', configHash: 'hash', shard: 7 };
      expect(await found(prefixes[0])).toMatchObject([
        { code: 'stopped', atMs: DAY_BEGIN + 5, node: 'one', detail },
        { code: 'started', atMs: DAY_BEGIN, node: 'one', detail },
      ]);
      expect(await found(prefixes[1])).toMatchObject([{ code: 'started', node: 'two', detail: { shard: 8 } }]);
    });
  });
}
