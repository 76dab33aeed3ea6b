import {
  CallOver,
  UpstreamFault,
  type BrokeredProvider,
  type CallRequest,
  type Capabilities,
  type CreatedCall,
  type Sideband,
  type UpstreamEvent,
} from '../../src/upstream/contract.ts';
import { answerSdp, offerSdp } from './provider/sdp.ts';

/** A sideband that a test speaks through. */
export class FakeSideband implements Sideband {
  readonly closed: Promise<void>;
  readonly hear: (event: UpstreamEvent) => void;
  isClosed = false;
  restored = 0;
  quietened = 0;
  /** Tokens that a response may have. */
  limit: number | undefined;
  #close: () => void = () => undefined;

  constructor(hear: (event: UpstreamEvent) => void, limit: number | undefined) {
    this.hear = hear;
    this.limit = limit;
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  limitResponses(maxOutputTokens: number): void {
    this.limit = maxOutputTokens;
  }

  restoreConfig(): void {
    this.restored += 1;
  }

  /** Whether what is cut off is told in time. */
  tellsCutOff = true;

  quieten(): Promise<boolean> {
    this.quietened += 1;
    return Promise.resolve(this.tellsCutOff);
  }

  close(): void {
    this.isClosed = true;
    this.#close();
  }
}

const refused = new UpstreamFault('refused', 'the fake provider refused', { status: 500 });
const givenUp = new UpstreamFault('timeout', 'given up');

/** A provider that creates, hears and ends calls as a test says: by default at once. */
export class FakeBrokeredProvider implements BrokeredProvider {
  readonly name = 'fake';
  readonly simulated = true;
  readonly callOrigins = [];
  capabilities: Capabilities & { readonly call: 'brokered' } = {
    call: 'brokered',
    hangUp: 'http',
    lockConfig: false,
    capDuration: null,
    meter: 'events',
    tools: true,
    providerMaxSec: 3600,
  };
  answerSdp = answerSdp(offerSdp());
  isAway = false;
  /** Calls that were created and not ended. */
  readonly live = new Set<string>();
  readonly requests: CallRequest[] = [];
  readonly sidebands: FakeSideband[] = [];
  /** Calls that were asked to end, in order. */
  readonly hangUps: string[] = [];
  /** What it tells of a call that it hangs up. */
  lastWords: readonly UpstreamEvent[] = [];
  /** Runs before each create, attachment and hang-up; it may throw, or wait. */
  before: (step: 'create' | 'attach' | 'hangUp') => unknown = () => undefined;

  mint(): Promise<never> {
    return Promise.reject(new Error('a brokered provider mints nothing here'));
  }

  async createCall(request: CallRequest): Promise<CreatedCall> {
    this.requests.push(request);
    const providerCallId = `rtc_${this.requests.length}`;
    await this.before('create');
    if (this.isAway) throw refused;
    // There is a call, whether or not whoever asked for it still listens.
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
    return this.live.delete(providerCallId) ? 'asked' : 'already_over';
  }

  async attach(
    providerCallId: string,
    { maxOutputTokens }: Parameters<BrokeredProvider['attach']>[1],
    hear: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<Sideband> {
    await this.#answer('attach', signal);
    if (!this.live.has(providerCallId)) throw new CallOver();
    const sideband = new FakeSideband(hear, maxOutputTokens);
    this.sidebands.push(sideband);
    return sideband;
  }

  get sideband(): FakeSideband {
    const last = this.sidebands.at(-1);
    if (last === undefined) throw new Error('nobody has attached');
    return last;
  }

  async #answer(step: 'attach' | 'hangUp', signal: AbortSignal): Promise<void> {
    await this.before(step);
    if (this.isAway) throw refused;
    if (signal.aborted) throw givenUp;
  }
}
