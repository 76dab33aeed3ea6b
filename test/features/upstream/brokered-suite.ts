import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CallOver, UpstreamFault } from '../../../src/upstream/contract.ts';
import type { BrokeredProvider, CallRequest } from '../../../src/upstream/contract.ts';
import { Heard } from './heard.ts';

/** A provider, and an offer with which its calls are opened. */
export interface BrokeredBench {
  readonly provider: BrokeredProvider;
  readonly offerSdp: string;
  close(): Promise<void>;
}

export const setup = {
  model: 'gpt-realtime-2.1',
  voice: 'marin',
  instructions: 'Be kind.',
  tools: [],
  maxOutputTokens: 1000,
};

export function callRequest(offerSdp: string, changes: Partial<CallRequest> = {}): CallRequest {
  const { signal } = new AbortController();
  return { ...setup, offerSdp, dataChannel: 'open', subjectHash: 'ab12', signal, ...changes };
}

export const noAbort = (): AbortSignal => new AbortController().signal;

export async function faultOf(work: Promise<unknown>): Promise<UpstreamFault> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  if (!(outcome instanceof UpstreamFault)) throw new Error('expected an UpstreamFault', { cause: outcome });
  return outcome;
}

/** What every provider promises whose calls Switchboard opens: run it for each. */
export function describeBrokered(name: string, open: () => Promise<BrokeredBench>): void {
  describe(`Calls at ${name}`, () => {
    let bench: BrokeredBench;
    let provider: BrokeredProvider;

    beforeEach(async () => {
      bench = await open();
      provider = bench.provider;
    });

    afterEach(() => bench.close());

    const create = () => provider.createCall(callRequest(bench.offerSdp));
    const attach = (id: string, heard = new Heard()) => provider.attach(id, setup, heard.hear, noAbort());

    test('are created with an answer of one audio part, and an id of their own each', async () => {
      const [first, second] = [await create(), await create()];
      expect(first.answerSdp).toMatch(/^v=0\r\n/);
      expect(first.answerSdp.match(/^m=audio /gm)).toHaveLength(1);
      expect(first.answerSdp).not.toMatch(/^m=video /m);
      expect(second.providerCallId).not.toBe(first.providerCallId);
    });

    test('are not created for a caller that gave up', async () => {
      const created = provider.createCall(callRequest(bench.offerSdp, { signal: AbortSignal.abort() }));
      expect(await faultOf(created)).toMatchObject({ kind: 'timeout' });
    });

    test('are heard from the moment that attaching resolves', async () => {
      const { providerCallId } = await create();
      const heard = new Heard();
      const sideband = await attach(providerCallId, heard);
      expect(heard.events[0]).toEqual({ type: 'ready' });
      sideband.close();
      await sideband.closed;
    });

    test('go on when a connection to them is closed, and can be heard again', async () => {
      const { providerCallId } = await create();
      const sideband = await attach(providerCallId);
      sideband.close();
      await sideband.closed;
      const again = await attach(providerCallId);
      again.close();
      await again.closed;
    });

    test('are hung up once, and are over for whoever asks again', async () => {
      const { providerCallId } = await create();
      const sideband = await attach(providerCallId);
      sideband.cancelResponse(undefined);
      expect(await provider.hangUp(providerCallId, noAbort())).toBe('asked');
      await sideband.closed;
      expect(await provider.hangUp(providerCallId, noAbort())).toBe('already_over');
      await expect(attach(providerCallId)).rejects.toBeInstanceOf(CallOver);
    });

    test('that nobody knows are over', async () => {
      expect(await provider.hangUp('rtc_never', noAbort())).toBe('already_over');
      await expect(attach('rtc_never')).rejects.toBeInstanceOf(CallOver);
    });

    test('take a limit and a restoration at any time, also after their connection is closed', async () => {
      const { providerCallId } = await create();
      const sideband = await attach(providerCallId);
      sideband.limitResponses(200);
      sideband.restoreConfig();
      sideband.close();
      await sideband.closed;
      sideband.limitResponses(100);
      sideband.restoreConfig();
      sideband.cancelResponse('resp_1');
    });

    test('are not attached to for a caller that gave up', async () => {
      const { providerCallId } = await create();
      const attached = provider.attach(providerCallId, setup, () => undefined, AbortSignal.abort());
      expect(await faultOf(attached)).toMatchObject({ kind: 'timeout' });
    });

    test('can be heard and ended by what the capabilities say', () => {
      expect(provider.capabilities).toMatchObject({ call: 'brokered' });
      expect(['http', 'socket']).toContain(provider.capabilities.hangUp);
    });
  });
}
