import { describe, expect, test, vi } from 'vitest';
import type { ToolCallRecord } from '../../machines/tool-call/types.ts';
import type { CallRecord } from '../../machines/voice-call/types.ts';
import { service, unique } from '../support/app.ts';
import { NOON, SECOND } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';
import { FakeBrokeredProvider } from '../support/fake-brokered-provider.ts';
import { brokeredSetup } from '../support/call-session.ts';
import { captionsOf } from '../../src/operators/calls/view.ts';
import { closedCall } from './calls.ts';

useApp({ env: { OPERATOR_EMAILS: 'ops@example.com' } });

const list = (query: string, headers: Record<string, string> = service) =>
  app.get(`/api/operator/calls?${query}`, headers);

const refsOf = ({ body }: Awaited<ReturnType<typeof list>>) =>
  (body['calls'] as { readonly ref: string }[]).map(({ ref }) => ref);

/** A call of a new session, of the tenant globex by default. */
async function insert(agentId: string, changes: Partial<CallRecord> = {}): Promise<CallRecord> {
  const { tenantId = 'globex' } = changes;
  const id = await app.open(await app.key({ tenantId }), { agentId });
  const call = { ...closedCall(id), id: unique('call'), tenantId, createdAtMs: NOON, ...changes };
  await app.service.stores.calls.insert(call, 3);
  return call;
}

describe('The list of calls', () => {
  test('shows whose each call is and what is known about its hang-up, and contains no whole session id', async () => {
    const agentId = unique('agent');
    const call = await insert(agentId, { hangup: 'unconfirmed', hangupTries: 7 });
    const answer = await list(`agentId=${agentId}`);
    expect(answer.body).toMatchObject({
      calls: [
        {
          ref: call.id,
          session: call.sessionId.slice(0, 42),
          tenantId: 'globex',
          agentId,
          hangup: 'unconfirmed',
          hangupTries: 7,
          microDollars: 0,
        },
      ],
      nextCursor: null,
      searchedTo: null,
    });
    const text = JSON.stringify([answer.body, (await app.get(`/api/operator/calls/${call.id}`, service)).body]);
    expect(text).not.toContain(call.sessionId);
  });

  test('can be filtered, and has the newest first', async () => {
    const agentId = unique('agent');
    const [first, second] = [
      await insert(agentId, { createdAtMs: NOON }),
      await insert(agentId, { createdAtMs: NOON + 1, hangup: 'unconfirmed' }),
    ];
    expect(refsOf(await list(`agentId=${agentId}&hangup=unconfirmed,asked`))).toEqual([second.id]);
    expect(refsOf(await list(`agentId=${agentId}&state=open`))).toEqual([]);
    expect(refsOf(await list(`agentId=${agentId}`))).toEqual([second.id, first.id]);
  });

  test('shows for a single call how many responses run, if that is known, and whether there are captions', async () => {
    const call = await insert(unique('agent'), { state: 'open', closedAtMs: null });
    const path = `/api/operator/calls/${call.id}`;
    expect((await app.get(path, service)).body).toMatchObject({ openResponses: null, captions: null });
    vi.spyOn(app.service.calls, 'runningResponses').mockImplementation(async ({ id }) =>
      id === call.id ? 2 : undefined,
    );
    expect((await app.get(path, service)).body).toMatchObject({ openResponses: 2 });
    const over = await insert(unique('agent'));
    expect((await app.get(`/api/operator/calls/${over.id}`, service)).body).toMatchObject({ openResponses: 0 });
  });

  test.each([
    [{ transcribe: {} }, true, true],
    [{}, true, false],
    [{ transcribe: {} }, false, false],
  ])(
    'shows captions for a session with %j and a provider that transcribes (%s): %s',
    (behaviour, converses, expected) => {
      const fake = new FakeBrokeredProvider();
      const provider = { name: fake.name, capabilities: { ...fake.capabilities, converses } };
      const call = { ...closedCall('s:1'), provider: fake.name };
      expect(captionsOf(call, { ...brokeredSetup('s:1', 0), behaviour }, provider)).toBe(expected);
      expect(captionsOf({ ...call, provider: 'another' }, brokeredSetup('s:1', 0), provider)).toBeNull();
    },
  );

  test('shows for a single call why it closed and the state of its hang-up, even if nobody asked for it', async () => {
    const call = await insert(unique('agent'), { closeReason: 'remote', hangup: 'none', hangupTries: 0 });
    const { body } = await app.get(`/api/operator/calls/${call.id}`, service);
    expect(body['why']).toMatchObject({
      sentence: expect.stringMatching(/^It closed .+, because .+\. Hang-up: not asked for/),
    });
  });

  test.each([
    [{ hangupTries: 0 }, 'not asked for.'],
    [{ hangupTries: 9 }, 'asked for in vain, 9 tries. It is tried again; the provider may go on billing.'],
    [
      { hangupTries: 1, nextTryAtMs: NOON + 95 * SECOND, providerEndsAtMs: NOON + 3600 * SECOND },
      'asked for in vain, 1 try. It is tried again at 2030-01-02 12:01:35 UTC; the provider may go on billing until 2030-01-02 13:00:00 UTC at the latest.',
    ],
    [{ hangup: 'asked', hangupTries: 2 }, 'begun by the provider, not yet confirmed, 2 tries.'],
  ] as const)('shows for a closing call since when it is closing, and with %j: Hang-up: %s', async (changes, told) => {
    const call = await insert(unique('agent'), {
      state: 'closing',
      closeReason: 'session_ended',
      closedAtMs: null,
      closingAtMs: NOON + 2 * SECOND,
      providerEndsAtMs: null,
      hangup: 'none',
      ...changes,
    });
    app.clock.advance(NOON + 74 * SECOND - app.clock.now());
    const { body } = await app.get(`/api/operator/calls/${call.id}`, service);
    expect(body['closingAt']).toBe('2030-01-02T12:00:02.000Z');
    expect(body['why']).toEqual({
      sentence: `It has been closing for 72 s, since 2030-01-02 12:00:02 UTC, because the session ended. Hang-up: ${told}`,
    });
  });

  test('shows for a single call which tools of the server were called in it, and why the last one gave no answer', async () => {
    const call = await insert(unique('agent'));
    const { id: callId, sessionId, fence } = call;
    const asked = {
      callId,
      sessionId,
      fence,
      untilMs: NOON + 8000,
      tries: 1,
      bytes: null,
      detail: null,
      endReason: null,
      version: 3,
    };
    const tools: ToolCallRecord[] = [
      {
        ...asked,
        id: unique('tool'),
        toolCallId: 'c1',
        name: 'hours',
        askedAtMs: NOON,
        state: 'answered',
        code: null,
        ms: 40,
      },
      {
        ...asked,
        id: unique('tool'),
        toolCallId: 'c2',
        name: 'lookup_order',
        askedAtMs: NOON + 1,
        untilMs: NOON + 501,
        state: 'timed_out',
        code: 'timed_out',
        ms: 500,
      },
      // A tool's call whose outcome could not be saved.
      {
        ...asked,
        id: unique('tool'),
        toolCallId: 'c3',
        name: 'hours',
        askedAtMs: NOON - 9000,
        untilMs: NOON - 1000,
        state: 'running',
        code: null,
        ms: null,
      },
    ];
    await app.service.stores.toolCalls.insert(tools, 50);
    const { body } = await app.get(`/api/operator/calls/${callId}`, service);
    expect(body['tools']).toEqual([
      {
        name: 'hours',
        state: 'timed_out',
        code: null,
        detail: null,
        endReason: null,
        askedAt: '2030-01-02T11:59:51.000Z',
        ms: null,
        tries: 1,
      },
      {
        name: 'hours',
        state: 'answered',
        code: null,
        detail: null,
        endReason: null,
        askedAt: '2030-01-02T12:00:00.000Z',
        ms: 40,
        tries: 1,
      },
      {
        name: 'lookup_order',
        state: 'timed_out',
        code: 'timed_out',
        detail: null,
        endReason: null,
        askedAt: '2030-01-02T12:00:00.001Z',
        ms: 500,
        tries: 1,
      },
    ]);
    expect(body['why']).toMatchObject({
      sentence: expect.stringMatching(/ It asked lookup_order at .+, which did not answer within 0\.5 s\.$/),
    });
    const ofSession = await app.get(`/api/operator/sessions/${encodeURIComponent(sessionId)}/calls/${callId}`, service);
    expect(ofSession.body['tools']).toEqual(body['tools']);
    const [, lookup] = tools;
    if (lookup === undefined) throw new Error('no tool');
    const failed = { ...lookup, state: 'failed', code: 'failed', detail: 'status 500', version: 4 } as const;
    await app.service.stores.toolCalls.save(failed, 3);
    const after = await app.get(`/api/operator/calls/${callId}`, service);
    expect(after.body['tools']).toContainEqual(expect.objectContaining({ code: 'failed', detail: 'status 500' }));
    expect(after.body['why']).toMatchObject({
      sentence: expect.stringMatching(/ It asked lookup_order at .+, which failed \(status 500\)\.$/),
    });
  });
});
