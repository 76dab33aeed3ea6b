import { AzureProvider } from '../../../src/upstream/azure.ts';
import type { BrokeredProvider } from '../../../src/upstream/contract.ts';
import { OpenAiLiveProvider } from '../../../src/upstream/openai-live.ts';
import { OpenAiProvider } from '../../../src/upstream/openai.ts';
import { ManualTimers } from '../../support/manual-timers.ts';
import { TestProvider } from '../../support/provider.ts';
import type { TestCall } from '../../support/provider/call.ts';
import { offerSdp } from '../../support/provider/sdp.ts';
import { callRequest, noAbort, setup, type BrokeredBench } from './brokered-suite.ts';
import { Heard } from './heard.ts';

interface Options {
  readonly standIn: TestProvider;
  readonly timers: ManualTimers;
  readonly timeoutMs: number;
}

const common = ({ timers, timeoutMs }: Options) => ({ timeoutMs, after: timers.after });

export const realtimeProviders: Readonly<Record<string, (options: Options) => BrokeredProvider>> = {
  openai: ({ standIn, ...options }) =>
    new OpenAiProvider({
      ...common({ standIn, ...options }),
      apiKey: standIn.apiKey,
      baseUrl: standIn.baseUrl,
      clientSecretTtlSec: 60,
    }),
  azure: ({ standIn, ...options }) =>
    new AzureProvider({
      ...common({ standIn, ...options }),
      azureEndpoint: standIn.origin,
      azureApiKey: standIn.apiKey,
      clientSecretTtlSec: 60,
    }),
};

const liveProviders: typeof realtimeProviders = {
  'openai-live': ({ standIn, ...options }) =>
    new OpenAiLiveProvider({
      ...common({ standIn, ...options }),
      apiKey: standIn.apiKey,
      baseUrl: standIn.baseUrl,
      liveSideband: 'close-only',
    }),
};

export const allProviders = { ...realtimeProviders, ...liveProviders };

/** A provider connected to the stand-in, with timers that tests advance. */
export class StandInBench implements BrokeredBench {
  readonly standIn: TestProvider;
  readonly timers = new ManualTimers();
  readonly provider: BrokeredProvider;
  readonly offerSdp = offerSdp();

  readonly #name: string;

  private constructor(standIn: TestProvider, name: string, timeoutMs: number) {
    this.standIn = standIn;
    this.#name = name;
    const make = allProviders[name];
    if (make === undefined) throw new Error(`no provider is called ${name}`);
    this.provider = make({ standIn, timers: this.timers, timeoutMs });
  }

  /** @param timeoutMs timeout of requests over HTTP, which run in real time */
  static async open(name: string, timeoutMs = 10_000): Promise<StandInBench> {
    return new StandInBench(await TestProvider.start(), name, timeoutMs);
  }

  /** The same stand-in with another timeout: where an answer is expected, a short timeout must not end the request. */
  withTimeout(timeoutMs: number): StandInBench {
    return new StandInBench(this.standIn, this.#name, timeoutMs);
  }

  close(): Promise<void> {
    return this.standIn.close();
  }

  async create(): Promise<TestCall> {
    await this.provider.createCall(callRequest(this.offerSdp));
    return this.standIn.lastCall;
  }

  /** Opens a call and a sideband that hears it. */
  async listen() {
    const call = await this.create();
    const heard = new Heard();
    const sideband = await this.provider.attach(call.id, setup, heard.hear, noAbort());
    return { call, heard, sideband };
  }

  attach(call: TestCall, heard = new Heard(), signal = noAbort()) {
    return this.provider.attach(call.id, setup, heard.hear, signal);
  }

  hangUp(call: TestCall, heard = new Heard(), signal = noAbort()) {
    return this.provider.hangUp(call.id, signal, heard.hear);
  }
}
