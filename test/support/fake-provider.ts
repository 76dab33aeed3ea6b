import type { Capabilities, Minted, MintRequest, UpstreamProvider } from '../../src/upstream/contract.ts';

/** A provider that does what a test says; by default it mints at once. */
export class FakeProvider implements UpstreamProvider {
  readonly name = 'fake';
  capabilities: Capabilities;
  readonly simulated: boolean;
  readonly callOrigins = [];
  readonly callUrl: string | undefined;
  transcriber: string | null | undefined;
  /** Every mint request, in order. */
  readonly requests: MintRequest[] = [];
  /** How the next mint requests are answered. */
  answer: (minted: Minted, request: MintRequest) => Promise<Minted> = (minted) => Promise.resolve(minted);

  constructor(
    changes: {
      readonly call?: Capabilities['call'];
      readonly converses?: boolean;
      readonly isSimulated?: boolean;
      readonly callUrl?: string;
    } = {},
  ) {
    const { call = 'none', converses = true, isSimulated = true, callUrl } = changes;
    const nothing = {
      hangUp: 'none',
      lockConfig: false,
      capDuration: null,
      meter: 'none',
      converses,
      tools: true,
      providerMaxSec: null,
    } as const;
    this.capabilities = { call, ...nothing };
    this.simulated = isSimulated;
    this.callUrl = callUrl;
  }

  /** Only needed of a provider whose calls are brokered. */
  fingerprint(): string {
    return 'fake';
  }

  mint(request: MintRequest): Promise<Minted> {
    this.requests.push(request);
    const n = this.requests.length;
    return this.answer({ sessionId: `sess_fake${n}`, value: `ek_fake_${n}`, expiresAtSec: 1_900_000_000 + n }, request);
  }

  /** Delays every mint until the returned function is called. */
  hold(): () => void {
    const { answer } = this;
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.answer = async (minted, request) => {
      await gate;
      return answer(minted, request);
    };
    return () => {
      this.answer = answer;
      release();
    };
  }
}
