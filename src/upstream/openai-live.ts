import { z } from 'zod';
import { deadline } from '../kernel/async.ts';
import { parseJson, type PostReply } from '../kernel/post.ts';
import { describeBehaviour, instructionsWith, merged } from './behaviour.ts';
import { isDialled, openCallSocket } from './call-socket.ts';
import {
  type BrokeredProvider,
  type CallRequest,
  type CreatedCall,
  type Minted,
  type Sideband,
  type UpstreamEvent,
  CallOver,
  UnansweredCall,
  UpstreamFault,
} from './contract.ts';
import { LiveSideband } from './openai-live-sideband.ts';
import { fingerprintOf, readReply, request, type Account } from './provider-http.ts';
import { openAiAccount, type OpenAiOptions } from './openai.ts';
import type { CallSetup } from './realtime-session.ts';

export interface OpenAiLiveOptions extends Omit<OpenAiOptions, 'clientSecretTtlSec'> {
  /** LIVE_SIDEBAND. */
  readonly liveSideband: 'close-only' | 'hold';
}

/** How long the provider may take to close a session and report its final seconds. */
const CLOSE_MS = 10_000;

/** The events that the page may send and receive: it cannot change the session. */
const clientEvents = ['session.input_audio.mute', 'session.input_audio.unmute', 'session.close'];
const serverEvents = [
  'session.started',
  'session.closed',
  'session.usage.updated',
  'session.input_transcript.delta',
  'session.output_transcript.delta',
  'session.input_audio.muted',
  'session.input_audio.unmuted',
  'error',
];

const named = z.object({ session: z.object({ id: z.string().regex(/^[\w-]{1,256}$/) }) });
const created = named.extend({
  transport: z.object({ sdp: z.string().min(1) }),
});

/**
 * OpenAI's live API, which bills connected time and has no client secrets. A connection to a session carries its audio in both directions, so by
 * default we connect only to close the session, and measure its time by our clock.
 */
export class OpenAiLiveProvider implements BrokeredProvider {
  readonly name = 'openai-live';
  readonly capabilities;
  readonly simulated = false;
  readonly callOrigins = [];
  readonly #account: Account;
  readonly #after: typeof deadline;

  /** @throws Error without a key, or for a key that cannot be sent as a header */
  constructor(options: OpenAiLiveOptions) {
    this.#account = openAiAccount(options);
    this.#after = options.after ?? deadline;
    this.capabilities = {
      call: 'brokered',
      hangUp: 'socket',
      lockConfig: true,
      capDuration: null,
      meter: options.liveSideband === 'hold' ? 'events' : 'clock',
      converses: false,
      // The model's tools are those of its backend, which is configured at the provider.
      tools: false,
      providerMaxSec: null,
    } as const;
  }

  mint(): Promise<Minted> {
    return Promise.reject(new UpstreamFault('refused', 'OpenAI has no client secrets for its live API'));
  }

  fingerprint(installationKey: Buffer): string {
    return fingerprintOf(this.name, this.#account, installationKey);
  }

  async createCall(asked: CallRequest): Promise<CreatedCall> {
    const { model, voice, behaviour, offerSdp } = asked;
    const instructions = instructionsWith(asked.instructions, behaviour);
    const session = {
      model,
      ...(instructions !== '' && { instructions }),
      audio: { output: { voice } },
      client: {
        data_channel: {
          allowed_client_events: clientEvents,
          allowed_server_events: serverEvents.map((type) => ({ type })),
        },
      },
      store: false,
    };
    const reply = await request(this.#account, {
      path: '/live/sessions',
      headers: { 'openai-safety-identifier': asked.subjectHash },
      json: {
        session: merged(session, describeBehaviour(this.name, behaviour)),
        transport: { type: 'webrtc', sdp: offerSdp },
      },
      traceparent: asked.traceparent,
      signal: asked.signal,
      wanted: 'call',
    });
    const data = readCreated(this.#account, reply);
    return { providerCallId: data.session.id, answerSdp: data.transport.sdp };
  }

  async hangUp(
    providerCallId: string,
    signal: AbortSignal,
    hear: (event: UpstreamEvent) => void = () => undefined,
  ): Promise<'asked' | 'already_over'> {
    try {
      await this.#close(providerCallId, signal, hear);
      return 'asked';
    } catch (error) {
      if (error instanceof CallOver) return 'already_over';
      throw error;
    }
  }

  async attach(
    providerCallId: string,
    _setup: CallSetup,
    hear: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<Sideband> {
    const sideband = await this.#open(providerCallId, signal, hear);
    hear({ type: 'ready' });
    return sideband;
  }

  isKnown(providerCallId: string, signal: AbortSignal): Promise<boolean> {
    return isDialled(() => this.#open(providerCallId, signal, () => undefined));
  }

  async #open(id: string, signal: AbortSignal, hear: (event: UpstreamEvent) => void): Promise<LiveSideband> {
    const path = `/live/sessions/${encodeURIComponent(id)}/attach`;
    const options = { callId: id, after: this.#after, signal, hear };
    return new LiveSideband(await openCallSocket(this.#account, path, options), hear);
  }

  /** Closes a session; resolves when the provider has confirmed it, with the final seconds. */
  async #close(id: string, signal: AbortSignal, hear: (event: UpstreamEvent) => void): Promise<void> {
    const { title } = this.#account;
    let isConfirmed = false;
    let confirm = (): void => undefined;
    const sideband = await this.#open(id, signal, (event) => {
      if (event.type === 'over') {
        isConfirmed = true;
        confirm();
      } else hear(event);
    });
    let stop = (): void => undefined;
    const isLate = await new Promise<boolean>((resolve) => {
      const giveUp = (): void => resolve(true);
      const callOff = this.#after(CLOSE_MS, giveUp);
      signal.addEventListener('abort', giveUp);
      stop = () => {
        callOff();
        signal.removeEventListener('abort', giveUp);
      };
      confirm = () => resolve(false);
      void sideband.closed.then(confirm);
      sideband.endSession();
    });
    stop();
    sideband.close();
    if (isConfirmed) return;
    throw isLate
      ? new UpstreamFault('timeout', `${title} did not close the call in time`)
      : new UpstreamFault('unreachable', `${title} closed the connection`);
  }
}

function readCreated(account: Account, reply: PostReply): z.infer<typeof created> {
  try {
    return readReply(account, 'call', reply, created);
  } catch (fault) {
    const { data } = named.safeParse(parseJson(reply.text));
    throw data !== undefined && fault instanceof UpstreamFault ? new UnansweredCall(data.session.id, fault) : fault;
  }
}
