import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UpstreamFault } from '../../../src/upstream/contract.ts';
import type { MintRequest } from '../../../src/upstream/contract.ts';
import { OpenAiLiveProvider } from '../../../src/upstream/openai-live.ts';
import { OpenAiProvider } from '../../../src/upstream/openai.ts';
import { TestProvider } from '../../support/provider.ts';
import type { ProviderMode } from '../../support/provider.ts';
import { offerSdp } from '../../support/provider/sdp.ts';
import { callRequest, noAbort } from './brokered-suite.ts';

let provider: TestProvider;

beforeEach(async () => {
  provider = await TestProvider.start();
});

afterEach(() => provider.close());

function openAi(options: Partial<ConstructorParameters<typeof OpenAiProvider>[0]> = {}): OpenAiProvider {
  const { apiKey, baseUrl } = provider;
  return new OpenAiProvider({ apiKey, baseUrl, timeoutMs: 5_000, clientSecretTtlSec: 60, ...options });
}

function request(changes: Partial<MintRequest> = {}): MintRequest {
  const { signal } = new AbortController();
  return { model: 'gpt-realtime', voice: 'marin', tools: [], subjectHash: 'ab12', signal, ...changes };
}

async function faultOf(mint: Promise<unknown>): Promise<UpstreamFault> {
  const outcome: unknown = await mint.catch((error: unknown) => error);
  if (!(outcome instanceof UpstreamFault)) throw new Error('expected an UpstreamFault', { cause: outcome });
  return outcome;
}

/** Everything that a careless log call could print about the fault. */
function printed(fault: UpstreamFault): string {
  return [fault.stack, JSON.stringify(fault), JSON.stringify(fault.facts), String(fault.cause)].join('\n');
}

describe('A mint at OpenAI', () => {
  test('gives the secret, its expiry and the session id of the provider', async () => {
    const minted = await openAi().mint(request());
    expect(minted).toEqual({
      sessionId: 'sess_upstream1',
      value: provider.secrets[0],
      expiresAtSec: expect.closeTo(Date.now() / 1000 + 60, -1) as number,
    });
  });

  test('asks with the model, voice, instructions and life time that it was given, for a subject without a name', async () => {
    await openAi().mint(request({ instructions: 'Be kind.' }));
    const [sent] = provider.requests;
    expect(sent?.headers).toMatchObject({
      authorization: `Bearer ${provider.apiKey}`,
      'openai-safety-identifier': 'ab12',
      'content-type': 'application/json',
    });
    expect(sent?.body).toEqual({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: {
        type: 'realtime',
        model: 'gpt-realtime',
        instructions: 'Be kind.',
        audio: { output: { voice: 'marin' } },
      },
    });
  });

  test('turns tools of every kind into function tools and keeps their private fields at home', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [
      {
        kind: 'http_tool',
        name: 'weather',
        description: 'Looks outside',
        parameters,
        url: 'https://internal',
        token: 'x',
      },
      { kind: 'mcp', name: 'bare' },
    ];
    await openAi().mint(request({ tools }));
    expect(provider.requests[0]?.body).toMatchObject({
      session: {
        tools: [
          { type: 'function', name: 'weather', description: 'Looks outside', parameters },
          { type: 'function', name: 'bare', parameters: { type: 'object' } },
        ],
      },
    });
    expect(JSON.stringify(provider.requests[0]?.body)).not.toContain('internal');
  });

  test.each(['', '/', '/v1', '/v1/'])('finds the endpoint from a base address that ends in "%s"', async (path) => {
    await expect(openAi({ baseUrl: provider.origin + path }).mint(request())).resolves.toBeDefined();
  });

  test.each(['no session id', 'strange session id'] as const)(
    'makes a session id of its own when there is %s',
    async (mode) => {
      provider.mode = mode;
      const { sessionId } = await openAi().mint(request());
      expect(sessionId).toMatch(/^sess_[\w-]{24}$/);
    },
  );
});

describe('A mint that fails', () => {
  test('for a wrong key is refused, with the words for our log and without the key', async () => {
    const fault = await faultOf(openAi({ apiKey: 'sk-wrong-secret' }).mint(request()));
    expect(fault).toMatchObject({
      kind: 'refused',
      facts: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key', requestId: 'req_1' },
    });
    expect(printed(fault)).not.toContain('sk-wrong-secret');
  });

  test('for a request that OpenAI does not know is refused', async () => {
    const fault = await faultOf(openAi().mint(request({ tools: [{ kind: 'http_tool', name: 'not a name' }] })));
    expect(fault).toMatchObject({ kind: 'refused', facts: { status: 400 } });
  });

  test.each<[ProviderMode, object]>([
    ['rate limited', { kind: 'refused', facts: { status: 429, type: 'requests', code: 'rate_limit_exceeded' } }],
    ['broken', { kind: 'refused', facts: { status: 500, type: 'server_error' } }],
    ['redirect', { kind: 'refused', facts: { status: 307 } }],
    ['garbage', { kind: 'malformed', facts: { status: 200, requestId: 'req_1' } }],
    ['wrong shape', { kind: 'malformed', facts: { detail: 'value expires_at' } }],
    ['huge', { kind: 'malformed', message: 'OpenAI answered far more than a client secret' }],
    ['reset', { kind: 'unreachable' }],
  ])('because the provider is in mode "%s" says so, shows no secret and is not tried again', async (mode, expected) => {
    provider.mode = mode;
    const fault = await faultOf(openAi().mint(request()));
    expect(fault).toMatchObject(expected);
    expect(printed(fault)).not.toMatch(/ek_|sk-test/);
    expect(provider.requests).toHaveLength(1);
  });

  test('because nobody listens is unreachable, with the system error for our log', async () => {
    const mints = openAi();
    await provider.close();
    const fault = await faultOf(mints.mint(request()));
    expect(fault).toMatchObject({ kind: 'unreachable', facts: { detail: 'ECONNREFUSED' } });
    provider = await TestProvider.start();
  });

  test.each(['hang', 'hang in body'] as const)('because of a "%s" ends at its deadline', async (mode) => {
    provider.mode = mode;
    expect(await faultOf(openAi({ timeoutMs: 150 }).mint(request()))).toMatchObject({ kind: 'timeout' });
  });

  test('because the answer is late ends at its deadline', async () => {
    provider.delayMs = 2_000;
    expect(await faultOf(openAi({ timeoutMs: 150 }).mint(request()))).toMatchObject({ kind: 'timeout' });
  });

  test('because the caller gave up ends', async () => {
    provider.mode = 'hang';
    expect(await faultOf(openAi().mint(request({ signal: AbortSignal.abort() })))).toMatchObject({ kind: 'timeout' });
    const fault = faultOf(openAi().mint(request({ signal: AbortSignal.timeout(50) })));
    expect(await fault).toMatchObject({ kind: 'timeout' });
  });

  test('leaves the next one untouched', async () => {
    const mints = openAi({ timeoutMs: 1_000 });
    provider.mode = 'hang';
    await faultOf(mints.mint(request()));
    provider.mode = 'ok';
    const { value } = await mints.mint(request());
    expect(value).toBe(provider.secrets[0]);
  });
});

test('A provider key that can not be a header is refused at once and not shown', () => {
  expect(() => openAi({ apiKey: 'sk-secret\n' })).toThrow(/printable/);
  expect(() => openAi({ apiKey: 'sk-secret\n' })).not.toThrow(/sk-secret/);
});

test('All that OpenAI is asked says the project and the organization that are set, and nothing of them where they are not', async () => {
  const offer = offerSdp();
  const own = openAi();
  const { providerCallId } = await own.createCall(callRequest(offer));
  await own.isKnown(providerCallId, noAbort());
  const set = openAi({ openAiProject: 'proj_1', openAiOrganization: 'org-1' });
  await set.mint(request());
  await set.createCall(callRequest(offer));
  const { id } = provider.lastCall;
  await set.isKnown(id, noAbort());
  await set.hangUp(id, noAbort());
  const said = [...provider.requests, ...provider.calls.upgradeRequests].map(({ headers }) => [
    headers['openai-project'],
    headers['openai-organization'],
  ]);
  const [none, both] = [
    [undefined, undefined],
    ['proj_1', 'org-1'],
  ];
  expect(said).toEqual([none, both, both, both, none, both]);
});

test('Accounts are told apart by provider, address, key, project and organization, and nothing of them is told', () => {
  const key = Buffer.alloc(32, 1);
  const of = (options: Parameters<typeof openAi>[0], by = key): string => openAi(options).fingerprint(by);
  const same = of({});
  expect(same).toMatch(/^[0-9a-f]{16}$/);
  expect(of({ timeoutMs: 1 })).toBe(same);
  const others = [
    of({ apiKey: 'sk-other' }),
    of({ baseUrl: 'https://gateway.example/v1' }),
    of({ openAiProject: 'proj_1' }),
    of({ openAiOrganization: 'proj_1' }),
    of({}, Buffer.alloc(32, 2)),
    new OpenAiLiveProvider({
      apiKey: provider.apiKey,
      baseUrl: provider.baseUrl,
      timeoutMs: 1,
      liveSideband: 'hold',
    }).fingerprint(key),
  ];
  expect(new Set([same, ...others]).size).toBe(7);
});
