import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { NO_TOKENS } from '../../src/protocol/price.ts';
import { keyAccount, type Ledger, type UsageEntry, type UsageTotals } from '../../src/stores/ledger/contract.ts';
import { createPostgresLedger } from '../../src/stores/ledger/postgres.ts';
import { createPostgresVoiceHistory } from '../../src/stores/voice-history/postgres.ts';
import { usageOf } from './call-usage.ts';
import { atOnce, DAY_BEGIN, nodesOf, voiceRecord, type Make } from './support.ts';

const HOUR_MS = 3_600_000;
const TODAY = '2030-01-01';
const TOMORROW = '2030-01-02';

type Sum = UsageTotals & { readonly of: string };

export function entryOf(subject: string, changes: Partial<UsageEntry> = {}): UsageEntry {
  return {
    subject,
    day: TODAY,
    tokens: 10,
    microDollars: 1,
    atMs: DAY_BEGIN,
    tenantId: 'acme',
    sessionId: null,
    sessionAtMost: null,
    keyAccount: null,
    tenantAccount: null,
    idempotency: null,
    ...changes,
  };
}

/** @param nodes the connections of two nodes to one migrated database */
export function rollUpsContract(name: string, nodes: () => readonly [Database, Database]): void {
  const make: Make<Ledger> = () => {
    const [one, other] = nodes();
    return Promise.resolve({
      nodes: [createPostgresLedger(one), createPostgresLedger(other)],
      close: () => Promise.resolve(),
    });
  };

  describe(`usage by hour and by day, ${name}`, () => {
    const ledger = nodesOf(make);
    const [DAYS, HOURS] = ['usage_day', 'usage_hour'] as const;

    /** Sums of one tenant or one subject, by what the rows apply to. */
    async function sums(table: string, of: string, where: string, value: string): Promise<Sum[]> {
      return nodes()[0].run((sql) =>
        sql.unsafe<Sum[]>(
          `select ${of} as of, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as "microDollars"
          from ${table} where ${where} = $1 group by 1 order by 1`,
          [value],
        ),
      );
    }

    /** Stores a session with a new key and a new agent. */
    async function session(tenantId: string) {
      const record = voiceRecord({ tenantId, keyId: randomId(), agentId: randomId() });
      await createPostgresVoiceHistory(nodes()[0]).insert({ record, state: 'engaged' });
      return record;
    }

    test('belongs to the key and the agent of the session, and to none without a session', async () => {
      const tenantId = randomId();
      const { id: sessionId, subject, keyId, agentId } = await session(tenantId);
      await ledger().record(entryOf(subject, { tenantId, sessionId }));
      await ledger().record(entryOf(subject, { tenantId, tokens: 5 }));
      await ledger().recordCall(
        usageOf(randomId(), subject, {
          tenantId,
          sessionId,
          tokens: { ...NO_TOKENS, textIn: 3 },
          picoDollars: 7_000_000n,
        }),
      );
      for (const table of [DAYS, HOURS]) {
        const by = `key_id || ' ' || agent_id`;
        expect(await sums(table, by, 'tenant_id', tenantId)).toEqual([
          { of: ' ', tokens: 5, microDollars: 1 },
          { of: `${keyId} ${agentId}`, tokens: 13, microDollars: 8 },
        ]);
      }
      const kept = await nodes()[0].run(
        (sql) => sql`
          select key_id as "keyId", agent_id as "agentId" from usage_entry where subject = ${subject} order by ordinal`,
      );
      expect([...kept]).toEqual([
        { keyId, agentId },
        { keyId: null, agentId: null },
        { keyId, agentId },
      ]);
    });

    test('belongs to no tenant where the usage names none', async () => {
      const subject = randomId();
      await ledger().record(entryOf(subject, { tenantId: null }));
      expect(await sums(DAYS, 'tenant_id', 'subject', subject)).toEqual([{ of: '', tokens: 10, microDollars: 1 }]);
    });

    test('belongs to the hour in which it happened and to the day for which it was counted', async () => {
      const [tenantId, subject] = [randomId(), randomId()];
      for (const [atMs, day] of [
        [DAY_BEGIN, TODAY],
        [DAY_BEGIN + HOUR_MS - 1, TODAY],
        [DAY_BEGIN + HOUR_MS, TOMORROW],
      ] as const)
        await ledger().record(entryOf(subject, { tenantId, atMs, day }));
      expect(await sums(HOURS, 'hour_ms::text', 'tenant_id', tenantId)).toEqual([
        { of: String(DAY_BEGIN), tokens: 20, microDollars: 2 },
        { of: String(DAY_BEGIN + HOUR_MS), tokens: 10, microDollars: 1 },
      ]);
      expect(await sums(DAYS, 'day', 'tenant_id', tenantId)).toEqual([
        { of: TODAY, tokens: 20, microDollars: 2 },
        { of: TOMORROW, tokens: 10, microDollars: 1 },
      ]);
    });

    test('excludes refused and repeated reports, and totals of keys', async () => {
      const [tenantId, subject, sessionId] = [randomId(), randomId(), randomId()];
      const account = keyAccount(tenantId, 'site');
      const once = { key: 'once', bodyHash: 'body' };
      const bound = { tenantId, sessionId, keyAccount: account, sessionAtMost: { tokens: 15, microDollars: 100 } };
      const kinds = [];
      for (const changes of [{ idempotency: once }, { idempotency: once }, {}])
        kinds.push((await ledger().record(entryOf(subject, { ...bound, ...changes }))).kind);
      expect(kinds).toEqual(['counted', 'replayed', 'implausible']);
      expect(await sums(DAYS, 'subject', 'tenant_id', tenantId)).toEqual([
        { of: subject, tokens: 10, microDollars: 1 },
      ]);
      expect(await sums(DAYS, 'subject', 'subject', account)).toEqual([]);
    });

    const usage = fc.record({
      who: fc.nat(2),
      where: fc.option(fc.nat(2)),
      isCall: fc.boolean(),
      tokens: fc.integer({ min: 0, max: 1_000_000 }),
      microDollars: fc.integer({ min: 0, max: 1_000_000 }),
      day: fc.constantFrom(TODAY, TOMORROW),
      hour: fc.nat(3),
      key: fc.option(fc.nat(3)),
      isBounded: fc.boolean(),
    });

    test('sums to the totals of the subjects after any concurrent reports and calls on two nodes', async () => {
      const tenants = await atOnce(3, () => randomId());
      const sessions = await Promise.all(tenants.map(session));
      await fc.assert(
        fc.asyncProperty(fc.array(usage, { maxLength: 30 }), async (all) => {
          const subjects = await atOnce(3, () => randomId());
          await Promise.all(
            all.map(({ who, where, isCall, tokens, microDollars, day, hour, key, isBounded }) => {
              const subject = subjects[who] as string;
              const named = where === null ? undefined : sessions[where];
              const [tenantId, sessionId] = [named?.tenantId ?? 'acme', named?.id ?? null];
              const account = named === undefined ? null : keyAccount(tenantId, named.keyId ?? '');
              const about = { tenantId, day, atMs: DAY_BEGIN + hour * HOUR_MS, keyAccount: account };
              // An idempotency key belongs to a session, and these sessions serve several subjects.
              const name = key === null ? randomId() : `${subject} ${key}`;
              if (isCall && sessionId !== null)
                return ledger().recordCall(
                  usageOf(`call ${subject}`, subject, {
                    ...about,
                    sessionId,
                    key: name,
                    tokens: { ...NO_TOKENS, textIn: tokens },
                    picoDollars: BigInt(microDollars) * 999_999n,
                  }),
                );
              const sessionAtMost =
                isBounded && sessionId !== null ? { tokens: 2_000_000, microDollars: 2_000_000 } : null;
              const idempotency = { key: name, bodyHash: 'same' };
              return ledger().record(
                entryOf(subject, { ...about, sessionId, sessionAtMost, tokens, microDollars, idempotency }),
              );
            }),
          );
          for (const subject of subjects) {
            const byDay = new Map((await sums(DAYS, 'day', 'subject', subject)).map((sum) => [sum.of, sum]));
            for (const day of [TODAY, TOMORROW]) {
              const { tokens = 0, microDollars = 0 } = byDay.get(day) ?? {};
              expect({ tokens, microDollars }).toEqual(await ledger().totals(subject, day));
            }
          }
          for (const tenantId of tenants)
            expect(await sums(HOURS, `key_id || ' ' || agent_id`, 'tenant_id', tenantId)).toEqual(
              await sums(DAYS, `key_id || ' ' || agent_id`, 'tenant_id', tenantId),
            );
        }),
        { numRuns: 15 },
      );
    });
  });
}
