import { describe, expect, test } from 'vitest';
import type { AuthRecord } from '../../machines/auth-session/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { newEndpoint } from '../../machines/webhook-endpoint/selectors.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { BudgetRecord } from '../../machines/budget/types.ts';
import type { Challenges } from '../../src/stores/logins/contract.ts';
import type { BudgetStates, BudgetTold } from '../../src/stores/budgets/contract.ts';
import type { Ledger } from '../../src/stores/ledger/contract.ts';
import type { ReconciledDay, Reconciliations } from '../../src/stores/reconciliations/contract.ts';
import {
  type KeyChange,
  type Tenant,
  type Tenants,
  type TenantScope,
  type WidgetKey,
  TooManyInFile,
} from '../../src/stores/tenants/contract.ts';
import type { Retention } from '../../src/stores/retention/contract.ts';
import type { SessionSetup } from '../../src/stores/session-setups/contract.ts';
import type { VoiceCalls } from '../../src/stores/voice-calls/contract.ts';
import type { OpenedSession, VoiceHistory } from '../../src/stores/voice-history/contract.ts';
import type { ClaimedMail, WebhookEndpoint, Webhooks } from '../../src/stores/webhooks/contract.ts';
import { usageOf } from './call-usage.ts';
import { challenge } from './challenges.ts';
import { login } from './logins.ts';
import { widgetKey } from './tenants.ts';
import { atOnce, DAY_BEGIN, endedRecord, nodesOf, RACERS, voiceRecord, type Make } from './support.ts';
import { call } from './voice-calls.ts';
import { anEndpoint } from './webhooks.ts';

interface Stores {
  readonly webhooks: Webhooks;
  readonly history: VoiceHistory;
  readonly calls: VoiceCalls;
  readonly ledger: Ledger;
  readonly retention: Retention;
  readonly tenants: Tenants;
  readonly challenges: Challenges;
  readonly budgetStates: BudgetStates;
  readonly reconciliations: Reconciliations;
}

const SETTLED_MS = 300_000;

const setup: Omit<SessionSetup, 'sessionId'> = {
  callMode: 'brokered',
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  instructions: 'The secret of the house',
  tools: [],
  behaviour: null,
  dataChannel: 'none',
  forbidsOverrides: true,
  price: null,
  sealedContext: 'AQ==',
  agentVersion: '4f1c0e8b7d2a',
  trace: null,
  metadata: { campaign: 'spring' },
  createdAtMs: DAY_BEGIN,
};

const ALL = ['session.started', 'session.idle', 'session.stale', 'session.ended', 'session.settled'];
const CALLS = ['call.opened', 'call.closed', 'call.unconfirmed'];

export function webhookEventsContract(name: string, make: Make<Stores>): void {
  describe(`what webhooks are told, ${name}`, () => {
    const stores = nodesOf(make);

    async function endpoint(changes: Partial<WebhookEndpoint> = {}): Promise<WebhookEndpoint> {
      const added = anEndpoint({ types: [...ALL, ...CALLS], ...changes });
      expect(await stores().webhooks.insert(added, 10)).toBe(true);
      return added;
    }

    /** Opens a session of this tenant, which has an endpoint; null: of a new tenant. */
    async function opened(tenantId: string | null, changes: Partial<VoiceRecord> = {}): Promise<VoiceRecord> {
      const record = voiceRecord({ tenantId: tenantId ?? randomId(), ...changes });
      const limits = { maxMinutes: 15, maxIdleSec: 300, newVisitorSeconds: 60 };
      const session: OpenedSession = { record, state: 'engaged', limits, setup: { ...setup, sessionId: record.id } };
      await stores().history.insert(session);
      return record;
    }

    const end = (record: VoiceRecord, changes: Partial<VoiceRecord> = {}) =>
      stores().history.save([{ record: endedRecord(record, changes), state: 'ended' }]);

    /** The events that an endpoint was sent, oldest first. */
    async function toldTo({ id }: WebhookEndpoint): Promise<{ type: string; data: Record<string, unknown> }[]> {
      const { rows } = await stores().webhooks.deliveries({ endpointId: id }, undefined, 200);
      const found = await Promise.all(rows.map(({ eventId }) => stores().webhooks.delivery(id, eventId)));
      return found
        .toReversed()
        .map((one) => JSON.parse(one?.body ?? '') as { type: string; data: Record<string, unknown> });
    }

    const typesTo = async (one: WebhookEndpoint) => (await toldTo(one)).map(({ type }) => type);

    const common = (record: VoiceRecord) => ({
      ref: record.id.slice(0, 42),
      tenantId: record.tenantId,
      keyId: 'acme-site',
      agentId: 'support',
      agentVersion: '4f1c0e8b7d2a',
      caller: 'widget',
      subject: record.subject,
      metadata: { campaign: 'spring' },
    });

    test("is that a session was opened, without its proof or its agent's instructions", async () => {
      const one = await endpoint();
      const record = await opened(one.tenantId);
      const { rows } = await stores().webhooks.deliveries({ endpointId: one.id }, undefined, 9);
      expect(rows).toMatchObject([{ type: 'session.started', session: record.id.slice(0, 42), atMs: DAY_BEGIN }]);
      const delivery = await stores().webhooks.delivery(one.id, rows[0]?.eventId ?? '');
      expect(JSON.parse(delivery?.body ?? '')).toEqual({
        type: 'session.started',
        timestamp: '2030-01-01T00:00:00.000Z',
        data: {
          ...common(record),
          sequence: 1,
          startedAt: '2030-01-01T00:00:00.000Z',
          limits: { maxMinutes: 15, maxIdleSec: 300, newVisitorSeconds: 60 },
          callMode: 'brokered',
          model: 'gpt-realtime-2.1',
        },
      });
      for (const secret of [record.id, 'secret of the house', 'AQ==']) expect(delivery?.body).not.toContain(secret);
    });

    test('is found by session for the visible tenants, whatever others were told later', async () => {
      const own = await endpoint();
      const record = await opened(own.tenantId);
      await endpoint({ tenantId: null, types: ['session.ended'] });
      await end(record);
      const ref = record.id.slice(0, 42);
      const told = async (tenants: TenantScope, limit: number) =>
        (await stores().webhooks.ofSession(ref, tenants, limit)).map(({ tenantId, type }) => [tenantId, type]);
      const ofOwn = ['session.ended', 'session.started'].map((type) => [own.tenantId, type]);
      expect(await told([own.tenantId ?? ''], 9)).toEqual(ofOwn);
      expect(await told([own.tenantId ?? '', randomId()], 2)).toEqual(ofOwn);
      expect(await told([randomId()], 9)).toEqual([]);
      expect(await told([], 9)).toEqual([]);
      expect((await told('*', 9)).map(([tenantId]) => tenantId)).toContain(null);
    });

    test('is that it ended, once, however often and by whichever node the end is saved', async () => {
      const one = await endpoint();
      const record = await opened(one.tenantId);
      await atOnce(RACERS, () => end(record));
      const [, ended, ...rest] = await toldTo(one);
      expect(rest).toEqual([]);
      expect(ended).toEqual({
        type: 'session.ended',
        timestamp: '2030-01-01T00:00:05.000Z',
        data: {
          ...common(record),
          sequence: 2,
          reason: 'closed_by_client',
          startedAt: '2030-01-01T00:00:00.000Z',
          endedAt: '2030-01-01T00:00:05.000Z',
          durationSec: 5,
          usageSoFar: { tokens: 0, microDollars: 0 },
        },
      });
    });

    test('is that it was opened once, however often it is inserted', async () => {
      const one = await endpoint();
      const record = await opened(one.tenantId);
      await stores().history.insert({ record, state: 'engaged' });
      expect(await typesTo(one)).toEqual(['session.started']);
    });

    test('is when it goes idle or stale, but not that it is engaged again', async () => {
      const one = await endpoint();
      const record = await opened(one.tenantId);
      const states = ['idle', 'engaged', 'stale', 'stale'] as const;
      for (const [n, state] of states.entries()) {
        const atMs = DAY_BEGIN + 1000 * (n + 1);
        await stores().history.save([{ record: { ...record, settledAtMs: atMs, version: n + 2 }, state }]);
      }
      expect(await toldTo(one)).toMatchObject([
        { type: 'session.started' },
        { type: 'session.idle', timestamp: '2030-01-01T00:00:01.000Z', data: { idleSec: 1, sequence: 2 } },
        { type: 'session.stale', timestamp: '2030-01-01T00:00:03.000Z', data: { idleSec: 3, sequence: 4 } },
      ]);
    });

    test('is only what an endpoint wants, from its own tenant or, for one of the installation, from all', async () => {
      const ended = await endpoint({ types: ['session.ended'] });
      const other = await endpoint();
      const common = await endpoint({ tenantId: null, types: ['session.ended'] });
      try {
        await end(await opened(ended.tenantId));
        expect(await typesTo(ended)).toEqual(['session.ended']);
        expect(await typesTo(other)).toEqual([]);
        expect(await typesTo(common)).toEqual(['session.ended']);
      } finally {
        await stores().webhooks.delete(common.id);
      }
    });

    test('waits for an endpoint that is disabled', async () => {
      const one = await endpoint({ state: 'disabled', disabledFor: 'operator' });
      await opened(one.tenantId);
      expect(await typesTo(one)).toEqual(['session.started']);
    });

    test('never prevents a session from being saved when an endpoint is deleted meanwhile', async () => {
      for (let round = 0; round < 8; round += 1) {
        const one = await endpoint();
        const records = await Promise.all(Array.from({ length: 8 }, () => opened(one.tenantId)));
        await Promise.all([...records.map((record) => end(record)), stores().webhooks.delete(one.id)]);
        for (const { id } of records) expect((await stores().history.find(id))?.endReason).toBe('closed_by_client');
      }
    });

    describe('of calls', () => {
      async function callOf(one: WebhookEndpoint): Promise<{ session: VoiceRecord; record: CallRecord }> {
        const session = await opened(one.tenantId);
        const record = call({
          sessionId: session.id,
          tenantId: session.tenantId,
          subject: session.subject,
          keyId: 'acme-site',
        });
        expect(await stores().calls.insert(record, 10)).toBe('inserted');
        return { session, record };
      }

      const save = async (record: CallRecord, changes: Partial<CallRecord>): Promise<CallRecord> => {
        const next = { ...record, ...changes, version: record.version + 1 };
        expect(await stores().calls.save(next, record.version)).toBe(true);
        return next;
      };

      const isOpen = { state: 'open', giveUpAtMs: null, openedAtMs: DAY_BEGIN + 400, providerCallId: 'rtc_1' } as const;
      const isClosed = { state: 'closed', closedAtMs: DAY_BEGIN + 60_400, closeReason: 'remote' } as const;

      test('is that one was opened and closed, each once', async () => {
        const one = await endpoint({ types: CALLS });
        const { session, record } = await callOf(one);
        const opened = await save(record, isOpen);
        const heard = await save(opened, { unheardSinceMs: DAY_BEGIN + 500 });
        await save(await save(heard, { state: 'closing', closeReason: 'remote' }), {
          ...isClosed,
          hangup: 'confirmed',
        });
        const about = { ...common(session), callRef: record.id, provider: 'local', model: 'echo', setupMs: 400 };
        expect(await toldTo(one)).toEqual([
          {
            type: 'call.opened',
            timestamp: '2030-01-01T00:00:00.400Z',
            data: { ...about, sequence: 2, connectedSec: 0, reason: null, hangup: 'none' },
          },
          {
            type: 'call.closed',
            timestamp: '2030-01-01T00:01:00.400Z',
            data: { ...about, sequence: 5, connectedSec: 60, reason: 'remote', hangup: 'confirmed' },
          },
        ]);
        expect(JSON.stringify(await toldTo(one))).not.toContain('rtc_1');
      });

      test('is that a hang-up was not confirmed, besides that the call is over', async () => {
        const one = await endpoint({ types: CALLS });
        const { record } = await callOf(one);
        await save(record, { ...isClosed, hangup: 'unconfirmed' });
        expect((await typesTo(one)).toSorted()).toEqual(['call.closed', 'call.unconfirmed']);
      });

      test('is nothing for a save that came second', async () => {
        const one = await endpoint({ types: CALLS });
        const { record } = await callOf(one);
        await atOnce(RACERS, () => stores().calls.save({ ...record, ...isOpen, version: 2 }, 1));
        expect(await typesTo(one)).toEqual(['call.opened']);
      });
    });

    describe("of a session's total cost", () => {
      const settle = (atMs: number) => stores().webhooks.settle(atMs, atMs - SETTLED_MS, 100);
      const settled = async (one: WebhookEndpoint) =>
        (await toldTo(one)).filter(({ type }) => type === 'session.settled');

      test('is sent some minutes after the end when its calls are not heard here, once over all nodes', async () => {
        const one = await endpoint();
        const record = await opened(one.tenantId, { isHeard: false });
        const reported = { tokens: 70, microDollars: 12_345, atMs: DAY_BEGIN, day: '2030-01-01', idempotency: null };
        const nobodys = { sessionAtMost: null, keyAccount: null, tenantAccount: null };
        await stores().ledger.record({
          ...reported,
          ...nobodys,
          subject: record.subject,
          tenantId: record.tenantId,
          sessionId: record.id,
        });
        await end(record);
        await settle(DAY_BEGIN + 5_000 + SETTLED_MS - 1);
        expect(await settled(one)).toEqual([]);
        await atOnce(8, () => settle(DAY_BEGIN + 5_000 + SETTLED_MS));
        expect(await settled(one)).toMatchObject([
          {
            timestamp: '2030-01-01T00:05:05.000Z',
            data: {
              ...common(record),
              reason: 'closed_by_client',
              usage: {
                tokens: 70,
                microDollars: 12_345,
                dollars: '0.012345',
                basis: 'reported',
                estimatedMicroDollars: 0,
                priceVersion: null,
                byClass: null,
              },
              calls: [],
              gapSec: 0,
              tools: { calls: 0, answered: 0 },
            },
          },
        ]);
      });

      test('is sent once all calls are over when they are heard here, and what nobody heard can no longer be reported', async () => {
        const one = await endpoint();
        const session = await opened(one.tenantId, { isHeard: true });
        const { tenantId, subject, id: sessionId } = session;
        const record = call({ sessionId, tenantId, subject, state: 'open', openedAtMs: DAY_BEGIN });
        await stores().calls.insert(record, 10);
        const tokens = {
          textIn: 10,
          textCached: 0,
          textOut: 5,
          audioIn: 100,
          audioCached: 20,
          audioOut: 80,
          imageIn: 0,
          imageCached: 0,
        };
        await stores().ledger.recordCall({
          ...usageOf(record.id, subject, { tokens, picoDollars: 2_500_000_000n }),
          sessionId,
          tenantId,
        });
        await stores().ledger.recordCall({
          ...usageOf(record.id, subject, { isEstimated: true, picoDollars: 500_000_000n, gapMs: 4000 }),
          sessionId,
          tenantId,
        });
        await end(session);
        await settle(DAY_BEGIN + DAY_MS);
        expect(await settled(one)).toEqual([]);
        const closed = {
          state: 'closed',
          closedAtMs: DAY_BEGIN + 9000,
          closeReason: 'session_ended',
          hangup: 'confirmed',
        } as const;
        await stores().calls.save({ ...record, ...closed, giveUpAtMs: null, version: 2 }, 1);
        // Nobody heard four seconds of it, which its page may still report.
        await settle(DAY_BEGIN + 5000 + SETTLED_MS - 1);
        expect(await settled(one)).toEqual([]);
        await settle(DAY_BEGIN + 5000 + SETTLED_MS);
        expect(await settled(one)).toMatchObject([
          {
            data: {
              usage: {
                microDollars: 3000,
                dollars: '0.003000',
                basis: 'events',
                estimatedMicroDollars: 500,
                priceVersion: '2030-01-01',
                byClass: tokens,
              },
              calls: [
                {
                  ref: record.id,
                  provider: 'local',
                  model: 'echo',
                  openedAt: '2030-01-01T00:00:00.000Z',
                  closedAt: '2030-01-01T00:00:09.000Z',
                  reason: 'session_ended',
                  hangup: 'confirmed',
                  microDollars: 3000,
                  gapSec: 4,
                },
              ],
              gapSec: 4,
            },
          },
        ]);
      });

      test('is sent as soon as the last call is over when all of it was heard', async () => {
        const one = await endpoint();
        const session = await opened(one.tenantId, { isHeard: true });
        const { tenantId, subject, id: sessionId } = session;
        const closed = { state: 'closed', closedAtMs: DAY_BEGIN + 9000, hangup: 'confirmed' } as const;
        const record = call({ sessionId, tenantId, subject, openedAtMs: DAY_BEGIN, ...closed, giveUpAtMs: null });
        await stores().calls.insert(record, 10);
        await stores().ledger.recordCall({ ...usageOf(record.id, subject, {}), sessionId, tenantId });
        await end(session);
        await settle(DAY_BEGIN + 9000);
        expect(await settled(one)).toMatchObject([{ data: { gapSec: 0 } }]);
      });

      test.each([
        ['20 calls', { model: 'gpt-realtime-2.1', note: 'n'.repeat(508) }, 20],
        [
          'fewer calls, where the names of their models and the notes of its creator are long',
          { model: '語'.repeat(128), note: '\u0001'.repeat(508) },
          4,
        ],
      ])('lists %s in a body of at most 8 KiB', async (_, { model, note }, listed) => {
        const one = await endpoint({ tenantId: randomId().padEnd(64, 'x') });
        const terms = { tenantId: one.tenantId as string, agentId: 'a'.repeat(128), keyId: 'k'.repeat(200) };
        const session = voiceRecord({ ...terms, isHeard: true });
        const metadata = { note };
        const kept = { ...setup, metadata, sessionId: session.id };
        await stores().history.insert({ record: session, state: 'engaged', setup: kept });
        const { tenantId, subject, id: sessionId } = session;
        const closed = {
          state: 'closed',
          closedAtMs: DAY_BEGIN + 9000,
          closeReason: 'session_ended',
          hangup: 'unconfirmed',
        } as const;
        for (let n = 0; n < 22; n += 1)
          await stores().calls.insert(
            call({
              sessionId,
              tenantId,
              subject,
              model,
              openedAtMs: DAY_BEGIN,
              createdAtMs: DAY_BEGIN + n,
              ...closed,
              giveUpAtMs: null,
            }),
            100,
          );
        await end(session);
        await settle(DAY_BEGIN + SETTLED_MS + DAY_MS);
        const [told] = await settled(one);
        expect(told?.data['metadata']).toEqual(metadata);
        expect(told?.data['calls']).toHaveLength(listed);
        const { rows } = await stores().webhooks.deliveries({ endpointId: one.id }, undefined, 9);
        for (const { eventId } of rows) {
          const delivery = await stores().webhooks.delivery(one.id, eventId);
          expect(Buffer.byteLength(delivery?.body ?? '')).toBeLessThanOrEqual(8192);
        }
      });

      test('is not kept for a session for which no endpoint wants it', async () => {
        const one = await endpoint({ types: ['session.ended'] });
        const record = await opened(one.tenantId, { isHeard: true });
        await end(record);
        const later = await endpoint({ tenantId: one.tenantId, types: ['session.settled'] });
        await settle(DAY_BEGIN + DAY_MS);
        expect(await settled(later)).toEqual([]);
      });
    });

    describe('of money', () => {
      const fact = (data: object): BudgetTold => ({
        type: 'budget.warned',
        atMs: DAY_BEGIN,
        data,
        mailTo: ['ops@acme.example'],
        entry: undefined,
      });

      function record(tenantId: string | null): BudgetRecord {
        const of = { id: '', tenantId, budgetId: randomId(), period: '2030-01', account: 'a', resetAtMs: null };
        return { ...of, toldPercent: 80, exceededAtMs: null, closedAtMs: null, budgetVersion: 1, version: 1 };
      }

      test("is a budget's fact, once, whichever node saves it first", async () => {
        const one = await endpoint({ types: ['budget.warned'] });
        const warned = record(one.tenantId);
        await atOnce(RACERS, (n) => stores().budgetStates.save(warned, 0, fact({ n })));
        expect(await toldTo(one)).toEqual([
          { type: 'budget.warned', timestamp: '2030-01-01T00:00:00.000Z', data: { n: expect.any(Number) } },
        ]);
      });

      test('is mailed to each address, claimed by one node at a time, and may be deferred', async () => {
        const [tenantId, address] = [randomId(), `${randomId()}@example.com`];
        await stores().budgetStates.save(record(tenantId), 0, { ...fact({ n: 1 }), mailTo: [address] });
        const claim = async (atMs: number) =>
          (await stores().webhooks.claimMails(atMs, atMs + 1000, 100)).filter(({ to }) => to === address);
        expect(await claim(DAY_BEGIN - 1)).toEqual([]);
        const mails = (await atOnce(8, () => claim(DAY_BEGIN))).flat();
        expect(mails).toMatchObject([{ to: address, tenantId, attempts: 0, isDeferred: false }]);
        await stores().webhooks.defer(mails, DAY_BEGIN + 5000);
        expect(await claim(DAY_BEGIN + 4999)).toEqual([]);
        expect(await claim(DAY_BEGIN + 5000)).toMatchObject([{ isDeferred: true }]);
        const [again] = await claim(DAY_BEGIN + 6000);
        const done = { attempts: 1, nextAtMs: null, atMs: DAY_BEGIN + 6001, status: null, code: null, ms: 0 };
        await stores().webhooks.finish(again as ClaimedMail, { ...done, state: 'delivered' });
        expect(await claim(DAY_BEGIN + 9000)).toEqual([]);
      });

      test("is, where it concerns the installation, sent to the installation's endpoints only", async () => {
        const own = await endpoint({ types: ['budget.warned', 'meter.drift'] });
        const common = await endpoint({ tenantId: null, types: ['budget.warned', 'meter.drift'] });
        try {
          await stores().budgetStates.save(record(null), 0, fact({}));
          const row = { class: 'audioIn', ours: 7, theirs: 9, microDollars: 64, isEqual: false } as const;
          const day: ReconciledDay = {
            day: '2031-05-01',
            upstream: randomId(),
            state: 'unexplained',
            rows: [
              { ...row, model: 'voice' },
              { ...row, model: 'voice', class: 'textIn', isEqual: true },
              { ...row, model: 'other' },
            ],
            ourMicroDollars: 100,
            theirMicroDollars: 164,
            estimatedMicroDollars: 0,
            unexplainedMicroDollars: 64,
            drifts: [{ model: 'voice', microDollars: 64 }],
            askedAtMs: DAY_BEGIN + 1,
          };
          for (let n = 0; n < 2; n += 1) await stores().reconciliations.save(day, ['ops@example.com']);
          expect(await typesTo(own)).toEqual([]);
          expect(await toldTo(common)).toEqual([
            { type: 'budget.warned', timestamp: '2030-01-01T00:00:00.000Z', data: {} },
            {
              type: 'meter.drift',
              timestamp: '2030-01-01T00:00:00.001Z',
              data: {
                tenantId: null,
                day: day.day,
                upstream: day.upstream,
                model: 'voice',
                microDollars: 64,
                classes: [{ class: 'audioIn', ours: 7, theirs: 9 }],
                ourMicroDollars: 100,
                theirMicroDollars: 164,
                estimatedMicroDollars: 0,
              },
            },
          ]);
        } finally {
          await stores().webhooks.delete(common.id);
        }
      });
    });

    describe('of keys', () => {
      const KEYS = ['key.issued', 'key.revoked', 'key.paused'];
      const by = (atMs: number): KeyChange => ({ atMs, by: 'tenant_admin', reason: 'spring' });

      async function keyOf(tenantId: string): Promise<WidgetKey> {
        await stores().tenants.merge([{ id: tenantId, name: tenantId, agents: [], admins: null, keys: [] }]);
        const key = widgetKey(tenantId);
        expect(await stores().tenants.issue([key], by(DAY_BEGIN))).toBe(true);
        return key;
      }

      test('is that a key was issued, paused and revoked, each once, with who did it and never with the key', async () => {
        const one = await endpoint({ types: KEYS });
        const key = await keyOf(one.tenantId ?? '');
        const { id, tenantId, origin, label } = key;
        const again = Array.from({ length: RACERS }, (_, n) => n);
        await Promise.all(again.map((n) => stores().tenants.pause(tenantId, id, by(DAY_BEGIN + 1 + n))));
        await Promise.all(again.map((n) => stores().tenants.revoke(tenantId, id, by(DAY_BEGIN + 1000 + n))));
        await stores().tenants.pause(tenantId, id, by(DAY_BEGIN + 2000));
        const told = await toldTo(one);
        expect(told.map(({ type }) => type)).toEqual(['key.issued', 'key.paused', 'key.revoked']);
        for (const { data } of told)
          expect(data).toEqual({ tenantId, keyId: id, origin, label, by: 'tenant_admin', reason: 'spring' });
        expect(JSON.stringify(told)).not.toContain(key.key);
      });

      test('is that the tenants file revoked a key, once, and nothing about the keys that it lists', async () => {
        const one = await endpoint({ types: KEYS });
        const key = await keyOf(one.tenantId ?? '');
        const { tenantId } = key;
        const file = { id: tenantId, name: tenantId, agents: [], admins: null };
        const other = widgetKey(tenantId, { id: 'other', revokedAtMs: DAY_BEGIN });
        for (const revokedAtMs of [null, DAY_BEGIN + 5, DAY_BEGIN + 6])
          await stores().tenants.merge([{ ...file, keys: [{ ...key, revokedAtMs }, other] }]);
        expect((await toldTo(one)).slice(1)).toMatchObject([
          {
            type: 'key.revoked',
            timestamp: '2030-01-01T00:00:00.005Z',
            data: { keyId: key.id, by: 'file', reason: null },
          },
        ]);
      });
    });

    test('is that a user logged in, sent to endpoints of the installation only and without the address', async () => {
      const [own, common] = [
        await endpoint({ types: ['login.succeeded'] }),
        await endpoint({ tenantId: null, types: ['login.succeeded'] }),
      ];
      try {
        const record = challenge();
        await stores().challenges.insert(record);
        const verified = { ...record, attempts: 1, outcome: 'verified', version: 2 } as const;
        const logins = Array.from({ length: RACERS }, () => login());
        const opened = await atOnce(RACERS, (n) => stores().challenges.redeem(verified, 1, logins[n] as AuthRecord));
        const { id, email } = logins[opened.indexOf(true)] as AuthRecord;
        const told = await toldTo(common);
        expect(told).toMatchObject([{ data: { tenantId: null, loginId: id, subject: record.subject } }]);
        expect(JSON.stringify(told)).not.toContain(email);
        expect(await typesTo(own)).toEqual([]);
      } finally {
        await stores().webhooks.delete(common.id);
      }
    });

    test('is that a login code was tried in vain too often, once and without the address', async () => {
      const [own, common] = [
        await endpoint({ types: ['login.locked'] }),
        await endpoint({ tenantId: null, types: ['login.locked'] }),
      ];
      try {
        const record = challenge();
        await stores().challenges.insert(record);
        const failed = { ...record, attempts: 4, version: 2 } as const;
        expect(await stores().challenges.save(failed, 1)).toBe(true);
        expect(await typesTo(common)).toEqual([]);
        const locked = { ...record, attempts: 5, outcome: 'locked', version: 3 } as const;
        await atOnce(RACERS, () => stores().challenges.save(locked, 2, DAY_BEGIN + 7));
        expect(await toldTo(common)).toEqual([
          {
            type: 'login.locked',
            timestamp: '2030-01-01T00:00:00.007Z',
            data: { tenantId: null, subject: record.subject, attempts: 5 },
          },
        ]);
        expect(await typesTo(own)).toEqual([]);
      } finally {
        await stores().webhooks.delete(common.id);
      }
    });

    test('is each entry of usage from reports and calls, and none that was counted before', async () => {
      const one = await endpoint({ types: ['usage.recorded'] });
      const record = await opened(one.tenantId);
      const { tenantId, subject, id: sessionId } = record;
      const report = {
        tokens: 70,
        microDollars: 12_345,
        atMs: DAY_BEGIN,
        day: '2030-01-01',
        subject,
        tenantId,
        sessionId,
      };
      const once = { ...report, sessionAtMost: null, keyAccount: null, tenantAccount: null };
      for (let n = 0; n < 2; n += 1)
        await stores().ledger.record({ ...once, idempotency: { key: 'once', bodyHash: 'same' } });
      const usage = { ...usageOf('rtc-call', subject, { picoDollars: 5_000_000n, atMs: DAY_BEGIN + 1 }), sessionId };
      for (let n = 0; n < 2; n += 1) await stores().ledger.recordCall({ ...usage, tenantId });
      const about = { ref: sessionId.slice(0, 42), tenantId, keyId: 'acme-site', agentId: 'support', subject };
      expect((await toldTo(one)).map(({ data }) => data)).toEqual([
        {
          ...about,
          tokens: 70,
          microDollars: 12_345,
          callRef: null,
          model: null,
          basis: 'reported',
          isEstimated: false,
          priceVersion: null,
        },
        {
          ...about,
          tokens: expect.any(Number),
          microDollars: 5,
          callRef: 'rtc-call',
          model: usage.model,
          basis: 'events',
          isEstimated: false,
          priceVersion: usage.priceVersion,
        },
      ]);
    });

    describe('and to whom, by the tenants file', () => {
      const webhook = {
        id: 'billing',
        url: 'https://hooks.acme.example/',
        types: ['session.started'],
        createdAtMs: DAY_BEGIN,
      };
      const tenant = (id: string, webhooks?: Tenant['webhooks']): Tenant => {
        return { id, name: id, agents: [], admins: null, keys: [], webhooks };
      };

      test('is a separate endpoint for each tenant, which is told like any other', async () => {
        const [one, other] = [randomId(), randomId()];
        await stores().tenants.merge([tenant(one, [webhook]), tenant(other, [webhook])]);
        const [endpoint] = await stores().webhooks.list([one]);
        expect(endpoint).toEqual({
          ...newEndpoint(`${one}:billing`),
          tenantId: one,
          url: webhook.url,
          types: webhook.types,
          createdAtMs: DAY_BEGIN,
          createdBy: 'file',
        });
        await opened(one);
        expect(await typesTo(endpoint as WebhookEndpoint)).toEqual(['session.started']);
      });

      test('is counted as troubled when it gets nothing at present, unless an operator disabled it', async () => {
        const id = randomId();
        const named = ['a', 'b', 'c', 'd'].map((name) => ({ ...webhook, id: name }));
        await stores().tenants.merge([tenant(id, named)]);
        const states = [
          { state: 'failing', failingSinceMs: 1, probeAtMs: 2 },
          { state: 'disabled', disabledFor: 'gone' },
          { state: 'disabled', disabledFor: 'operator' },
        ] as const;
        for (const [n, state] of states.entries())
          await stores().webhooks.save({ ...newEndpoint(`${id}:${named[n]?.id}`), ...state, version: 2 }, 1);
        expect(await stores().webhooks.countTroubled([id])).toEqual({ failing: 1, disabled: 1 });
        expect(await stores().webhooks.countTroubled([])).toEqual({ failing: 0, disabled: 0 });
        expect((await stores().webhooks.countTroubled()).failing).toBeGreaterThanOrEqual(1);
      });

      test('is changed where the file differs but keeps its state; an endpoint that the file omits stays', async () => {
        const id = randomId();
        await stores().tenants.merge([tenant(id, [webhook])]);
        const state = { state: 'disabled', disabledFor: 'operator', version: 2 } as const;
        await stores().webhooks.save({ ...newEndpoint(`${id}:billing`), ...state }, 1);
        const merge = (...all: Parameters<typeof tenant>) => stores().tenants.merge([tenant(...all)]);
        await merge(id, [{ ...webhook, createdAtMs: DAY_BEGIN + 1 }]);
        expect(await stores().webhooks.find(`${id}:billing`)).toMatchObject({ ...state, createdAtMs: DAY_BEGIN });
        await merge(id, [{ ...webhook, types: ['call.closed'] }]);
        await merge(id);
        await merge(id, []);
        expect(await stores().webhooks.find(`${id}:billing`)).toMatchObject({
          ...state,
          types: ['call.closed'],
          version: 3,
        });
      });

      test('is deleted only when the file no longer names it, with its deliveries', async () => {
        const id = randomId();
        await stores().tenants.merge([tenant(id, [webhook, { ...webhook, id: 'other' }])]);
        await opened(id);
        const one = (await stores().webhooks.find(`${id}:billing`)) as WebhookEndpoint;
        expect(await stores().webhooks.delete(one.id)).toBe(false);
        expect(await typesTo(one)).toEqual(['session.started']);
        await stores().tenants.merge([tenant(id, [{ ...webhook, id: 'other' }])]);
        expect(await stores().webhooks.delete(`${id}:other`)).toBe(false);
        expect(await stores().webhooks.delete(one.id)).toBe(true);
        expect(await typesTo(one)).toEqual([]);
      });

      test('may be deleted once the file no longer names its tenant, and not because a command adds another one', async () => {
        const id = randomId();
        await stores().tenants.merge([tenant(id, [webhook])]);
        await stores().tenants.merge([tenant(randomId())], { isPart: true });
        expect(await stores().webhooks.delete(`${id}:billing`)).toBe(false);
        await stores().tenants.merge([tenant(randomId())]);
        expect(await stores().webhooks.delete(`${id}:billing`)).toBe(true);
      });

      const names = (count: number, from = 0) =>
        Array.from({ length: count }, (_, n) => ({ ...webhook, id: `w${from + n}` }));

      test('is one of at most ten, however they were added: a file with more changes nothing at all', async () => {
        const [id, other] = [randomId(), randomId()];
        for (let n = 0; n < 4; n += 1) await endpoint({ tenantId: id });
        await stores().tenants.merge([tenant(id, names(5))]);
        const before = await stores().webhooks.list([id]);
        const merged = stores().tenants.merge([
          tenant(other, names(10)),
          { ...tenant(id, names(7).toReversed()), name: 'changed', keys: [widgetKey(id)] },
        ]);
        await expect(merged).rejects.toThrow(TooManyInFile);
        await expect(merged).rejects.toMatchObject({ crowded: [{ tenantId: id, named: 7, others: 4 }] });
        expect(await stores().webhooks.list([id, other])).toEqual(before);
        const kept = (await stores().tenants.all()).filter((one) => [id, other].includes(one.id));
        expect(kept).toMatchObject([{ name: id, keys: [] }]);
        // What the file no longer names counts until it is deleted.
        await expect(stores().tenants.merge([tenant(id, names(2, 5))])).rejects.toThrow(TooManyInFile);
        await stores().tenants.merge([tenant(id, names(6))]);
        expect(await stores().webhooks.insert(anEndpoint({ tenantId: id }), 10)).toBe(false);
      });

      test('can be changed even if its tenant already has too many, as long as none is added', async () => {
        const id = randomId();
        await stores().tenants.merge([tenant(id, names(9))]);
        for (let n = 0; n < 9; n += 1) await stores().webhooks.insert(anEndpoint({ tenantId: id }), 100);
        const url = 'https://new.acme.example/';
        await stores().tenants.merge([tenant(id, [{ ...webhook, id: 'w0', url }])]);
        expect(await stores().webhooks.find(`${id}:w0`)).toMatchObject({ url });
        await expect(stores().tenants.merge([tenant(id, names(1, 10))])).rejects.toThrow(TooManyInFile);
      });
    });

    test('is deleted with its deliveries when its retention ends', async () => {
      const one = await endpoint();
      await opened(one.tenantId, { startedAtMs: 5 });
      await stores().retention.deleteSome('webhookEvents', 6);
      expect(await typesTo(one)).toEqual([]);
    });
  });
}

const DAY_MS = 86_400_000;
