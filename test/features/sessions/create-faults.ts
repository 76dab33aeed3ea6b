import { beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../config/config.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import type { CallMode } from '../../../src/protocol/call.ts';
import { Refusal } from '../../../src/protocol/refusal.ts';
import type { WidgetKey } from '../../../src/stores/tenants/contract.ts';
import { createEvents } from '../../../src/telemetry/events.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import type { CreateContext, CreateDeps, CreateStep } from '../../../src/sessions/create/step.ts';
import { CREATE_STEPS, runSteps } from '../../../src/sessions/create/create-session.ts';
import { longestMs } from '../../../src/sessions/deadlines.ts';
import { CONSOLE, somebody, type TestApp } from '../../support/app.ts';
import { MINUTE } from '../../support/clock.ts';

const config = readConfig({ NODE_ENV: 'test', PUBLIC_URL: CONSOLE, UPSTREAM_PROVIDER: 'local' });
const TENANT_TOTALS = { sessionsPerMinute: 1000, concurrentSessions: 1000 };
const names = CREATE_STEPS.map(({ name }) => name);

/** How a step fails: before it did anything, or after its store did the work and the answer was lost. */
const failures = ['refuses', 'is away before', 'is away after'] as const;
type Failure = (typeof failures)[number];

/** The deps of a create on a service's stores, in either call mode. */
function depsOf({ service, live, provider, clock }: TestApp, callMode: CallMode): CreateDeps {
  return {
    ...service,
    ...service.core,
    live,
    provider,
    clock,
    bots: { assess: () => ({ provider: 'none', isBot: false, isVerifiedBot: false, confidence: 0 }) },
    calls: { ...service.calls, modeOf: () => callMode },
    events: createEvents(createLog('silent', false), new Metrics()),
    publicUrl: () => CONSOLE,
  };
}

/** The steps, of which step `at` fails and the undo of step `badUndo` throws. */
function failing(at: number, failure: Failure, badUndo: number): CreateStep[] {
  return CREATE_STEPS.map((step, n) => {
    if (n === badUndo) {
      // The undo does its work; its caller only hears that it failed.
      return {
        ...step,
        async undo(...given: Parameters<NonNullable<CreateStep['undo']>>) {
          await step.undo?.(...given);
          throw new Unavailable('database', 'an undo that fails');
        },
      };
    }
    if (n !== at) return step;
    return {
      ...step,
      async take(...given: Parameters<CreateStep['take']>) {
        if (failure === 'refuses') return new Refusal('CONFLICT', `refused by ${step.name}`);
        if (failure === 'is away after') await step.take(...given);
        throw new Unavailable('database', `away at ${step.name}`);
      },
    };
  });
}

/** What a create takes from the visitor, the key and the tenant, according to the stores. */
async function standing({ service, live, clock }: TestApp, key: WidgetKey, email: string): Promise<object> {
  const { counters, keySlots, history } = service.stores;
  const subject = service.subjects.widgetUser('acme', email);
  const at = clock.now();
  const counted = (account: string): Promise<number> => counters.read(`sessions:${account}`, MINUTE, at);
  const keyName = { tenantId: 'acme', keyId: key.id };
  // Tries to take the only slot of the key: it is free only if no create holds one.
  const lastOfKey = await keySlots.take(keyName, 'probe', { key: 1 }, at + 1, at);
  await keySlots.free('probe');
  return {
    slots: await live.slots.count(subject, at),
    keyIsFree: lastOfKey === undefined,
    minutes: await Promise.all([counted(subject), counted(`key:acme:${key.id}`), counted('tenant:acme')]),
    registered: await live.registry.ofSubject(subject),
    active: (await history.activeOf(subject)).length,
  };
}

/** Makes every step of a create fail in every way on the stores of an engine, and checks that nothing is left behind. */
export function describeCreateFaults(build: () => Promise<TestApp>, modes: readonly CallMode[]): void {
  let app: TestApp;
  beforeAll(async () => {
    app = await build();
    const acme = app.service.directory.tenant('acme');
    if (acme === undefined) throw new Error('the tenants of the tests are missing');
    await app.service.stores.tenants.merge([{ ...acme, totals: TENANT_TOTALS, keys: [] }]);
    await app.service.directory.reload();
  });

  /** A new visitor with a new key, and a create for them that runs the given steps. */
  async function visit(mode: CallMode) {
    const key = await app.key({ totals: { sessionsPerMinute: 1000, concurrentSessions: 1000 } });
    const email = somebody();
    const body = { widgetKey: key.key, email, metadata: { order: '1' } };
    const headers = { 'idempotency-key': `create-${email}` };
    const signal = (): AbortSignal => new AbortController().signal;
    const request = {
      method: 'POST',
      path: '/api/session',
      headers,
      body: JSON.stringify(body),
      requestId: 'req_1',
      signal,
    };
    const deps = depsOf(app, mode);
    const create = async (steps: readonly CreateStep[]) => {
      const timed = { ...request, atMs: app.clock.now() };
      const context: CreateContext = {
        input: {
          body,
          login: undefined,
          isService: false,
          origin: key.origin,
          ip: '198.51.100.7',
          addressScope: '198.51.100.7',
          request: timed,
        },
      };
      const faults: unknown[] = [];
      const outcome = await runSteps(steps, context, deps, (fault) => faults.push(fault)).then(
        (refusal) => refusal?.error ?? 'opened',
        (fault: unknown) => String((fault as Error).cause),
      );
      return { outcome, faults };
    };
    return { create, standing: () => standing(app, key, email) };
  }

  const cases = modes.flatMap((mode) =>
    names.flatMap((name, at) => {
      // The steps before the mint are the same in both call modes.
      if (mode !== modes[0] && at < names.indexOf('mint')) return [];
      const lastUndo = CREATE_STEPS.findLastIndex((step, n) => step.undo !== undefined && n < at);
      const cases = failures.map((failure) => ({ mode, name, at, failure, badUndo: -1 }));
      return lastUndo === -1 ? cases : [...cases, { mode, name, at, failure: failures[0], badUndo: lastUndo }];
    }),
  );

  describe.each(modes)('A %s create', (mode) => {
    test.each(cases.filter((one) => one.mode === mode))(
      'whose step "$name" $failure (bad undo: $badUndo) leaves all as it was',
      async ({ name, at, failure, badUndo }) => {
        // Moves on to another minute than the test before, because the tenant's count is shared.
        app.clock.advance(MINUTE);
        const visitor = await visit(mode);
        const before = await visitor.standing();
        const { outcome, faults } = await visitor.create(failing(at, failure, badUndo));
        expect(outcome).toBe(failure === 'refuses' ? `refused by ${name}` : `away at ${name}`);
        expect(faults).toHaveLength(badUndo === -1 ? 0 : 1);
        if (failure === 'is away after') {
          // What a store did without answering belongs to nobody: it lapses by itself, and an unknown session is ended by its clock.
          for (const _ of ['idle', 'stale', 'abandoned']) {
            app.clock.advance(longestMs(config.voice));
            await app.sweep();
          }
        }
        // A create that has asked the provider or made a ticket has had its try, and stays counted in its minute.
        const isCounted = at > names.indexOf('mint') && failure !== 'is away after';
        expect(await visitor.standing()).toEqual({ ...before, ...(isCounted ? { minutes: [1, 1, 1] } : {}) });
        // Its Idempotency-Key is free again as well.
        expect(await visitor.create(CREATE_STEPS)).toEqual({ outcome: 'opened', faults: [] });
      },
    );
  });
}
