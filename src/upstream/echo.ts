import { createHmac } from 'node:crypto';
import type { EchoCall } from '../../packages/echo/call.ts';
import type { ClientEvent } from '../../packages/echo/channel.ts';
import type { EchoEvent } from '../../packages/echo/events.ts';
import type { EchoTimes } from '../../packages/echo/times.ts';
import type { LoadWebRtc, WebRtc } from '../../packages/echo/web-rtc.ts';
import { systemClock, type Clock } from '../kernel/time.ts';
import type { TokenClasses } from '../protocol/price.ts';
import {
  CallOver,
  UpstreamFault,
  type BrokeredProvider,
  type CallRequest,
  type CreatedCall,
  type Minted,
  type MintRequest,
  type Sideband,
  type UpstreamEvent,
} from './contract.ts';
import { LocalProvider, type LocalOptions } from './local.ts';
import { conversationEvents } from './realtime-conversation.ts';
import { differingFields, isAsSdk, describeItem } from './realtime-session.ts';
import { readTokens } from './realtime-usage.ts';

const MAX_SEC = 3600;
/** Pages give up sooner, and count from the answer, so the echo waits longer than they do. */
const usualTimes: EchoTimes = { delayMs: 1000, connectMs: 60_000, lostMs: 10_000, maxMs: MAX_SEC * 1000 };

/** A running call, and what it was created with. */
interface OpenCall {
  readonly call: EchoCall;
  readonly request: CallRequest;
}

export interface EchoOptions extends LocalOptions {
  readonly times?: Partial<EchoTimes> | undefined;
}

/**
 * A simulated provider whose calls are real: an echo agent in this process, without a model or a key. A browser on this machine hears itself one
 * second later, and the service gets the same events as from a real provider. The calls end with the process, and only this process knows them.
 */
export class EchoProvider implements BrokeredProvider {
  readonly name = 'local';
  readonly capabilities = {
    call: 'brokered',
    hangUp: 'http',
    lockConfig: false,
    capDuration: null,
    meter: 'events',
    converses: true,
    tools: true,
    providerMaxSec: MAX_SEC,
  } as const;
  readonly simulated = true;
  readonly callOrigins = [];
  readonly #loadWebRtc: LoadWebRtc;
  readonly #times: EchoTimes;
  readonly #clock: Clock;
  readonly #secrets: LocalProvider;
  readonly #calls = new Map<string, OpenCall>();

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
    // Loaded with the first call: most processes open none.
    const [webRtc, { EchoCall }] = await Promise.all([this.#webRtc(), import('../../packages/echo/call.ts')]);
    if (signal.aborted) throw new UpstreamFault('timeout', 'the caller gave up');
    const onOver = (): unknown => this.#calls.delete(call.id);
    const call = new EchoCall({ webRtc, clock: this.#clock, onOver }, this.#times, request);
    this.#calls.set(call.id, { call, request });
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
    const open = this.#calls.get(providerCallId);
    if (open === undefined) return Promise.resolve('already_over');
    void open.call.hangUp();
    return Promise.resolve('asked');
  }

  attach(providerCallId: string, _setup: unknown, hear: (event: UpstreamEvent) => void): Promise<Sideband> {
    const open = this.#calls.get(providerCallId);
    if (open === undefined) return Promise.reject(new CallOver());
    hear({ type: 'ready' });
    let isCommitting = false;
    const connection = open.call.attach((event) => {
      inOurWords(event, open.request).forEach(hear);
      // A page with a data channel commits as well.
      const isCommitted = event.type === 'told' && event.event.type === 'input_audio_buffer.committed';
      if (isCommitted) hear({ type: 'words' });
      if (isCommitting && isCommitted) hear({ type: 'inputCommitted' });
    });
    const take = (event: ClientEvent): void => connection.take(event);
    return Promise.resolve({
      ...connection,
      addItem: (item) => take({ type: 'conversation.item.create', item: describeItem(item) }),
      deleteItem: (id) => take({ type: 'conversation.item.delete', item_id: id }),
      createResponse: (instructions) =>
        take({ type: 'response.create', ...(instructions === null ? {} : { response: { instructions } }) }),
      clearInput: () => take({ type: 'input_audio_buffer.clear' }),
      commitInput() {
        isCommitting = true;
        take({ type: 'input_audio_buffer.commit' });
        isCommitting = false;
      },
      clearSpeech: () => take({ type: 'output_audio_buffer.clear' }),
    });
  }

  isKnown(providerCallId: string): Promise<boolean> {
    return Promise.resolve(this.#calls.has(providerCallId));
  }

  /** Ends all calls. */
  async close(): Promise<void> {
    await Promise.all([...this.#calls.values()].map(({ call }) => call.hangUp()));
  }

  /** Slow for the first call only. @throws UpstreamFault */
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

/** The echo agent's events, in the words of a real provider's. */
function inOurWords(event: EchoEvent, request: CallRequest): readonly UpstreamEvent[] {
  if (event.type === 'configChanged') {
    const { session, created, maxOutputTokens = Infinity } = event;
    const differing = differingFields(session, request, created, maxOutputTokens);
    return differing.length > 0 ? [{ type: 'configChanged', isAsSdk: isAsSdk(session, request) }] : [];
  }
  if (event.type === 'responseStarted') {
    const { id, maxOutputTokens = Infinity } = event;
    const bounds = { maxOutputTokens, grantedTokens: maxOutputTokens };
    return [{ type: 'responseStarted', id, isInConversation: true, modality: 'audio', ...bounds }];
  }
  if (event.type === 'told') return conversationEvents(event.event);
  if (event.type !== 'responseDone') return [event];
  const { id, usage } = event;
  const tokens = readTokens(usage);
  const cost: UpstreamEvent =
    tokens === undefined ? { type: 'usageUnreadable', key: id } : { type: 'usage', key: id, model: undefined, tokens };
  return [cost, { type: 'responseDone', id, isTold: true }];
}
