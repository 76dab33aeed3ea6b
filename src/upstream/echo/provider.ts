import { createHmac } from 'node:crypto';
import { systemClock } from '../../kernel/clock.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { TokenClasses } from '../../protocol/price.ts';
import { readTokens } from '../realtime-usage.ts';
import { CallOver, UpstreamFault } from '../contract.ts';
import type {
  BrokeredProvider,
  CallRequest,
  CreatedCall,
  Minted,
  MintRequest,
  Sideband,
  UpstreamEvent,
} from '../contract.ts';
import { LocalProvider, type LocalOptions } from '../local.ts';
import { EchoCall, type EchoTimes } from './call.ts';
import type { LoadWebRtc, WebRtc } from './web-rtc.ts';

const MAX_SEC = 3600;
const usualTimes: EchoTimes = { delayMs: 1000, connectMs: 15_000, lostMs: 10_000, maxMs: MAX_SEC * 1000 };

export interface EchoOptions extends LocalOptions {
  readonly times?: Partial<EchoTimes> | undefined;
}

/**
 * A simulated provider whose calls are real: an echo agent in this process, without a model and without a key. A browser on this machine
 * hears itself one second later, and the service hears the events of a real provider. The calls end with the process, and only this
 * process knows them.
 */
export class EchoProvider implements BrokeredProvider {
  readonly name = 'local';
  readonly capabilities = {
    call: 'brokered',
    hangUp: 'http',
    lockConfig: false,
    capDuration: null,
    meter: 'events',
    tools: true,
    providerMaxSec: MAX_SEC,
  } as const;
  readonly simulated = true;
  readonly callOrigins = [];
  readonly #loadWebRtc: LoadWebRtc;
  readonly #times: EchoTimes;
  readonly #clock: Clock;
  readonly #secrets: LocalProvider;
  readonly #calls = new Map<string, EchoCall>();

  constructor(loadWebRtc: LoadWebRtc, options: EchoOptions) {
    this.#loadWebRtc = loadWebRtc;
    this.#times = { ...usualTimes, ...options.times };
    this.#clock = options.clock ?? systemClock;
    this.#secrets = new LocalProvider(options);
  }

  mint(request: MintRequest): Promise<Minted> {
    return this.#secrets.mint(request);
  }

  fingerprint(installationKey: Buffer): string {
    return createHmac('sha256', installationKey).update(this.name).digest('hex').slice(0, 16);
  }

  async createCall(request: CallRequest): Promise<CreatedCall> {
    const { signal, offerSdp } = request;
    const webRtc = await this.#webRtc();
    if (signal.aborted) throw new UpstreamFault('timeout', 'the caller gave up');
    const onOver = (): unknown => this.#calls.delete(call.id);
    const call = new EchoCall({ webRtc, clock: this.#clock, onOver }, this.#times, request);
    this.#calls.set(call.id, call);
    try {
      return { providerCallId: call.id, answerSdp: await call.answer(offerSdp) };
    } catch {
      const facts = { status: 400, type: 'invalid_request_error', code: 'invalid_offer' };
      throw new UpstreamFault('refused', 'the echo agent does not understand the offer', facts);
    }
  }

  readUsage(usage: unknown): TokenClasses | undefined {
    return readTokens(usage);
  }

  hangUp(providerCallId: string): Promise<'asked' | 'already_over'> {
    const call = this.#calls.get(providerCallId);
    if (call === undefined) return Promise.resolve('already_over');
    void call.hangUp();
    return Promise.resolve('asked');
  }

  attach(providerCallId: string, _setup: unknown, hear: (event: UpstreamEvent) => void): Promise<Sideband> {
    const call = this.#calls.get(providerCallId);
    if (call === undefined) return Promise.reject(new CallOver());
    return Promise.resolve(call.attach(hear));
  }

  isKnown(providerCallId: string): Promise<boolean> {
    return Promise.resolve(this.#calls.has(providerCallId));
  }

  /** Ends all calls. */
  async close(): Promise<void> {
    await Promise.all([...this.#calls.values()].map((call) => call.hangUp()));
  }

  /** Takes its time for the first call only. @throws UpstreamFault */
  async #webRtc(): Promise<WebRtc> {
    try {
      return await this.#loadWebRtc();
    } catch (error) {
      throw new UpstreamFault('unreachable', 'the echo agent cannot load its WebRTC library', {
        detail: String(error),
      });
    }
  }
}
