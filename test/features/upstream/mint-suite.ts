import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  MintRequest,
  UpstreamFault,
  UpstreamFaultFacts,
  UpstreamProvider,
} from '../../../src/upstream/contract.ts';
import { TestTokenProvider, type TokenMode } from '../../support/token-provider.ts';
import { faultOf, noAbort } from './brokered-suite.ts';

export interface MintOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
}

export function mintRequest(changes: Partial<MintRequest> = {}): MintRequest {
  return { model: 'a-model', voice: 'Puck', tools: [], subjectHash: 'ab12', signal: noAbort(), ...changes };
}

/** Everything that a careless log call could print about the fault. */
function printed(fault: UpstreamFault): string {
  return [fault.stack, JSON.stringify(fault), JSON.stringify(fault.facts), String(fault.cause)].join('\n');
}

/**
 * What every provider promises whose calls are opened with nothing but a token: run it for each.
 * @param wrongKey the facts of a mint that fails because the provider rejects the key
 */
export function describeMint(
  name: 'gemini' | 'assemblyai',
  make: (options: MintOptions) => UpstreamProvider,
  wrongKey: UpstreamFaultFacts,
): void {
  describe(`A mint at ${name}`, () => {
    let standIn: TestTokenProvider;

    beforeEach(async () => {
      standIn = await TestTokenProvider.start(name);
    });

    afterEach(() => standIn.close());

    const provider = (options: Partial<MintOptions> = {}): UpstreamProvider =>
      make({ baseUrl: standIn.origin, apiKey: standIn.apiKey, timeoutMs: 5_000, ...options });

    test('gives the token, with a session id of ours', async () => {
      const { sessionId, value } = await provider().mint(mintRequest());
      expect(sessionId).toMatch(/^sess_[\w-]{24}$/);
      expect(value).toContain(standIn.tokens[0]);
    });

    test('hands on the trace of its session, and none where there is none', async () => {
      const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
      await provider().mint(mintRequest({ traceparent }));
      await provider().mint(mintRequest());
      expect(standIn.requests.map(({ headers }) => headers['traceparent'])).toEqual([traceparent, undefined]);
    });

    test('never tells the provider who the caller is', async () => {
      await provider().mint(mintRequest());
      expect(JSON.stringify(standIn.requests)).not.toContain('ab12');
    });

    test('for a wrong key is refused, without the key, and the caller is not blamed', async () => {
      const fault = await faultOf(provider({ apiKey: 'key-wrong-secret' }).mint(mintRequest()));
      expect(fault).toMatchObject({ kind: 'refused', facts: wrongKey });
      expect(fault.blamesRequest).toBe(false);
      expect(printed(fault)).not.toContain('key-wrong-secret');
    });

    test.each<[TokenMode, object]>([
      ['rate limited', { kind: 'refused', facts: { status: 429 } }],
      ['broken', { kind: 'refused', facts: { status: 500 } }],
      ['redirect', { kind: 'refused', facts: { status: 307 } }],
      ['garbage', { kind: 'malformed', facts: { status: 200 } }],
      ['wrong shape', { kind: 'malformed', facts: { status: 200 } }],
      ['huge', { kind: 'malformed' }],
      ['reset', { kind: 'unreachable' }],
    ])('in mode "%s" says so, shows no secret and is not tried again', async (mode, expected) => {
      standIn.mode = mode;
      const fault = await faultOf(provider().mint(mintRequest()));
      expect(fault).toMatchObject(expected);
      expect(printed(fault)).not.toMatch(/leaked|key-test/);
      expect(standIn.requests).toHaveLength(1);
    });

    test.each(['hang', 'hang in body'] as const)('because of a "%s" ends at its deadline', async (mode) => {
      standIn.mode = mode;
      expect(await faultOf(provider({ timeoutMs: 150 }).mint(mintRequest()))).toMatchObject({ kind: 'timeout' });
    });

    test('because nobody listens is unreachable', async () => {
      const away = provider();
      await standIn.close();
      expect(await faultOf(away.mint(mintRequest()))).toMatchObject({
        kind: 'unreachable',
        facts: { detail: 'ECONNREFUSED' },
      });
      standIn = await TestTokenProvider.start(name);
    });

    test('because the caller gave up ends', async () => {
      const fault = faultOf(provider().mint(mintRequest({ signal: AbortSignal.abort() })));
      expect(await fault).toMatchObject({ kind: 'timeout' });
    });

    test('leaves the next one untouched', async () => {
      const mints = provider();
      standIn.mode = 'broken';
      await faultOf(mints.mint(mintRequest()));
      standIn.mode = 'ok';
      expect((await mints.mint(mintRequest())).value).toContain(standIn.tokens[0]);
    });

    test('with a key that can not be a header is refused at once, and the key not shown', () => {
      expect(() => provider({ apiKey: 'key-secret\n' })).toThrow(/printable/);
      expect(() => provider({ apiKey: 'key-secret\n' })).not.toThrow(/key-secret/);
    });

    test('is all that the provider says it can do: a call that nobody else opens, hears or ends, bounded by its token', () => {
      expect(provider().capabilities).toMatchObject({ call: 'token', hangUp: 'none', meter: 'none' });
      expect(provider().capabilities.capDuration).not.toBeNull();
    });
  });
}
