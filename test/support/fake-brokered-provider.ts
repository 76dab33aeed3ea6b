import {
  CallOver,
  UpstreamFault,
  type BrokeredProvider,
  type CallRequest,
  type Capabilities,
  type CreatedCall,
  type NewItem,
  type Sideband,
  type SidebandEnd,
  type UpstreamEvent,
} from '../../src/upstream/contract.ts';
import { answerSdp, offerSdp } from './provider/sdp.ts';

/** A sideband through which a test speaks. */
export class FakeSideband implements Sideband {
  readonly providerCallId: string;
  readonly closed: Promise<SidebandEnd>;
  readonly hear: (event: UpstreamEvent) => void;
  isClosed = false;
  /** Whether its agent may have been heard before. */
  mayBeSpeaking = false;
  restored = 0;
  /** Responses whose cancellation was requested, in order; undefined stands for the response of the conversation. */
  readonly cancelled: (string | undefined)[] = [];
  /** The maximum number of tokens of a response. */
  limit: number | undefined;
  #end: (end: SidebandEnd) => void = () => undefined;

  constructor(providerCallId: string, hear: (event: UpstreamEvent) => void, limit: number | undefined) {
    this.providerCallId = providerCallId;
    this.hear = hear;
    this.limit = limit;
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  limitResponses(maxOutputTokens: number): void {
    this.limit = maxOutputTokens;
  }

  restoreConfig(): void {
    this.restored += 1;
  }

  /** Items that were added, and all other requests, in order. */
  readonly asked: (
    | NewItem
    | { readonly type: 'delete'; readonly id: string }
    | { readonly type: 'respond'; readonly instructions: string | null }
    | { readonly type: 'clear' | 'clear_input' | 'commit_input' }
  )[] = [];

  addItem(item: NewItem): void {
    this.asked.push(item);
  }

  deleteItem(id: string): void {
    this.asked.push({ type: 'delete', id });
  }

  createResponse(instructions: string | null): void {
    this.asked.push({ type: 'respond', instructions });
  }

  clearInput(): void {
    this.asked.push({ type: 'clear_input' });
  }

  commitInput(): void {
    this.asked.push({ type: 'commit_input' });
  }

  clearSpeech(): void {
    this.asked.push({ type: 'clear' });
  }

  /** Called when a response is cancelled; a test sends the provider's answer here. */
  answerCancel: (id: string | undefined) => void = () => undefined;

  cancelResponse(id: string | undefined): void {
    this.cancelled.push(id);
    this.answerCancel(id);
  }

  /** The connection broke, or we closed it. */
  close(): void {
    this.isClosed = true;
    this.#end('lost');
  }

  /** The provider says that the call is over, then closes the sideband. */
  endWith(reason: Extract<UpstreamEvent, { type: 'over' }>['reason']): void {
    this.hear({ type: 'over', reason });
    this.leave();
  }

  /** The provider closes the sideband, as it does when a call ends. */
  leave(): void {
    this.isClosed = true;
    this.#end('left');
  }
}

const refused = new UpstreamFault('refused', 'the fake provider refused', { status: 500 });
const givenUp = new UpstreamFault('timeout', 'given up');

/** A provider that creates, hears and ends calls as a test says; by default at once. */
export class FakeBrokeredProvider implements BrokeredProvider {
  readonly name = 'fake';
  readonly simulated = true;
  readonly callOrigins = [];
  readonly transcriber = 'gpt-transcribe';
  capabilities: Capabilities & { readonly call: 'brokered' } = {
    call: 'brokered',
    hangUp: 'http',
    lockConfig: false,
    capDuration: null,
    meter: 'events',
    converses: true,
    tools: true,
    providerMaxSec: 3600,
  };
  answerSdp = answerSdp(offerSdp());
  isAway = false;
  /** Calls that were created and have not ended. */
  readonly live = new Set<string>();
  readonly requests: CallRequest[] = [];
  readonly sidebands: FakeSideband[] = [];
  /** Calls whose hang-up was requested, in order. */
  readonly hangUps: string[] = [];
  /** Events that the provider sends about a call as it hangs it up. */
  lastWords: readonly UpstreamEvent[] = [];
  /** Runs before each create, attach, `isKnown` and hang-up; it may throw or wait. */
  before: (step: 'create' | 'attach' | 'isKnown' | 'hangUp') => unknown = () => undefined;
  /** Calls that go on although their hang-ups are answered as if they succeeded. */
  readonly deaf = new Set<string>();
  /** Calls whose hang-ups are answered, wrongly, with "already over". */
  readonly forgotten = new Set<string>();
  /** How often `isKnown` was asked. */
  questions = 0;

  /** The credential whose calls this provider knows; calls of other credentials are unknown to it. */
  credential = 'one';

  fingerprint(): string {
    return this.credential;
  }

  mint(): Promise<never> {
    return Promise.reject(new Error('a brokered provider mints nothing here'));
  }

  async createCall(request: CallRequest): Promise<CreatedCall> {
    this.requests.push(request);
    const providerCallId = `rtc_${this.requests.length}`;
    await this.before('create');
    if (this.isAway) throw refused;
    // The call exists whether or not the caller still waits for it.
    this.live.add(providerCallId);
    if (request.signal.aborted) throw givenUp;
    return { providerCallId, answerSdp: this.answerSdp };
  }

  async hangUp(
    providerCallId: string,
    signal: AbortSignal,
    hear: (event: UpstreamEvent) => void = () => undefined,
  ): Promise<'asked' | 'already_over'> {
    this.hangUps.push(providerCallId);
    await this.#answer('hangUp', signal);
    for (const event of this.lastWords) hear(event);
    if (this.forgotten.has(providerCallId)) return 'already_over';
    if (this.deaf.has(providerCallId)) return 'asked';
    return this.end(providerCallId) ? 'asked' : 'already_over';
  }

  /** Ends a call and closes its sidebands. @returns whether there was such a call */
  end(providerCallId: string): boolean {
    for (const sideband of this.sidebands) if (sideband.providerCallId === providerCallId) sideband.leave();
    return this.live.delete(providerCallId);
  }

  async isKnown(providerCallId: string, signal: AbortSignal): Promise<boolean> {
    this.questions += 1;
    await this.#answer('isKnown', signal);
    return this.live.has(providerCallId);
  }

  async attach(
    providerCallId: string,
    { maxOutputTokens, isPutBack = false, mayBeSpeaking = false }: Parameters<BrokeredProvider['attach']>[1],
    hear: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<Sideband> {
    await this.#answer('attach', signal);
    if (!this.live.has(providerCallId)) throw new CallOver();
    const sideband = new FakeSideband(providerCallId, hear, maxOutputTokens);
    sideband.mayBeSpeaking = mayBeSpeaking;
    if (isPutBack) sideband.restoreConfig();
    this.sidebands.push(sideband);
    return sideband;
  }

  /** Holds each step from now on until the returned function lets the newest one go on; later ones are not held then. */
  hold(of?: 'create' | 'attach' | 'isKnown' | 'hangUp'): () => void {
    let goOn = (): void => undefined;
    this.before = (step) =>
      (of === undefined || step === of) &&
      new Promise<void>((resolve) => {
        goOn = resolve;
      });
    return () => {
      this.before = () => undefined;
      goOn();
    };
  }

  get sideband(): FakeSideband {
    const last = this.sidebands.at(-1);
    if (last === undefined) throw new Error('nobody has attached');
    return last;
  }

  async #answer(step: 'attach' | 'isKnown' | 'hangUp', signal: AbortSignal): Promise<void> {
    await this.before(step);
    if (this.isAway) throw refused;
    if (signal.aborted) throw givenUp;
  }
}
