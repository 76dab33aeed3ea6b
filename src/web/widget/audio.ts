import type { CreateReply } from '../../protocol/create.ts';
import { atEnd } from './abort.ts';
import type { AudioCall, AudioOptions, CallState, ConnectOptions, Session, SessionEvents } from './api.ts';
import { followConversation, type ProviderEvent, type RunTool } from './conversation.ts';
import type { Emitter } from './emitter.ts';
import { failure, textOf, type SwitchboardError } from './error.ts';
import { gathered, watchMedia } from './media.ts';
import { release, type HeldMicrophone } from './microphone.ts';
import { onPage, TOUCHING } from './page.ts';
import { watchVoices } from './voices.ts';

/** Events that mean that someone speaks, or that an answer is on its way. */
const SPEECH = /put_audio_buffer\.|^response\./;
/** How long a connection may be gone, in milliseconds. A brokered session waits less: a new call connects sooner than the old one returns. */
const AWAY_MS = 10_000;
const BROKERED_AWAY_MS = 5000;

/** What a call needs from its session. */
export interface CallDeps {
  /** The session, and how its calls are opened. */
  readonly created: CreateReply;
  readonly isBrokered: boolean;
  /** Gets the bearer token for the next offer. */
  readonly secret: () => Promise<string>;
  /** What the agent hears, unless the page gave a stream. */
  readonly microphone: HeldMicrophone;
  readonly options: ConnectOptions;
  readonly runTool: RunTool;
  /** Ends the call; its reason says why there can be no call. */
  readonly hangUp: AbortController;
  readonly emit: Emitter<SessionEvents>['emit'];
  readonly active: Session['active'];
  readonly reportUsage: Session['reportUsage'];
  /** Called when the provider has turned what the visitor said into a turn. */
  readonly committed: () => void;
  readonly tellState: (state: CallState) => void;
  /** Whether the agent should be asked to speak first. True at most once. */
  readonly greets: () => boolean;
}

/** Only the page learns the usage of a call that it has with the provider directly. */
const countTokens: NonNullable<AudioOptions['reportUsage']> = ({ total_tokens }) => ({ tokens: total_tokens });

/**
 * Joins a call, and rejoins it when the network is gone and Switchboard gives tickets. However the call ends, even if it never began, it
 * does so by the signal of `hangUp`, which closes the peer and releases the microphone.
 */
export async function callProvider(deps: CallDeps, options: AudioOptions): Promise<AudioCall> {
  const { created, isBrokered, secret, microphone, hangUp, emit, active, tellState } = deps;
  const { call: terms, client_secret } = created;
  const { signal } = hangUp;
  const { fetch: request = fetch } = deps.options;
  signal.throwIfAborted();
  if (client_secret.value.startsWith('ek_local_')) throw failure('SIMULATED_PROVIDER');
  const url = options.callsUrl ?? terms.url;
  if (url === null) throw failure('PROVIDER_UNSUPPORTED');
  if (isBrokered && options.reportUsage) console.info('Switchboard meters the call.');
  const stream = options.stream ?? (await microphone.open());
  if (!options.stream) atEnd(signal, () => release(stream));
  signal.throwIfAborted();
  microphone.use(stream);

  let peer: RTCPeerConnection;
  let channel: RTCDataChannel | undefined;
  /** Allows one attempt to rejoin for each time that the call was connected. */
  let mayReturn = false;

  function lose(error: SwitchboardError): void {
    if (signal.aborted) return;
    hangUp.abort(error);
    emit('media', { state: 'lost', error });
  }

  function watchTrack(track: MediaStreamTrack): void {
    track.addEventListener('ended', () => lose(failure('MICROPHONE_LOST')), { signal });
  }

  const send = (event: object): void => {
    if (channel?.readyState === 'open') channel.send(JSON.stringify(event));
  };
  const follow = followConversation(deps.runTool, send, emit, terms.serverTools);

  function hear(event: ProviderEvent): void {
    const { type, response } = event;
    if (SPEECH.test(type)) active();
    follow(event);
    if (type === 'input_audio_buffer.committed') deps.committed();
    if (!isBrokered && type === 'response.done' && response?.usage) {
      const { reportUsage = countTokens } = options;
      deps.reportUsage({ id: response.id, ...reportUsage(response.usage) }).catch(() => 0);
    }
  }

  const exchange = async (): Promise<Response> =>
    request(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${await secret()}`, 'Content-Type': 'application/sdp' },
      body: peer.localDescription?.sdp ?? '',
      signal,
    });

  /** Opens a WebRTC call the way OpenAI does: posts an SDP offer and receives an SDP answer. */
  async function join(): Promise<void> {
    const line = new AbortController();
    atEnd(signal, () => line.abort());
    const joined = (peer = new RTCPeerConnection());
    atEnd(line.signal, () => joined.close());
    channel = terms.dataChannel === 'none' ? undefined : peer.createDataChannel('oai-events');
    channel?.addEventListener('message', ({ data }) => hear(JSON.parse(data as string)));
    channel?.addEventListener('open', () => deps.greets() && send({ type: 'response.create' }));
    tellState('creating');
    stream.getAudioTracks().forEach((track) => peer.addTrack(track, stream));
    peer.ontrack = ({ streams }) => {
      const audio = options.audioElement ?? new Audio();
      const play = (): Promise<void> => audio.play();
      audio.srcObject = streams[0] ?? null;
      // Browsers forbid sound before the visitor has touched the page, as in a conversation that goes on after a page load.
      play().catch(() => onPage(line.signal, TOUCHING, () => void play().catch(() => 0)));
    };
    await peer.setLocalDescription();
    watchVoices(peer, stream, emit, active, line.signal);
    watchMedia(
      peer,
      isBrokered ? channel : undefined,
      line.signal,
      isBrokered ? BROKERED_AWAY_MS : AWAY_MS,
      (event) => {
        if (event.state === 'connected') mayReturn = isBrokered;
        emit('media', event);
      },
      (why, isNetwork) => {
        if (!isNetwork || !mayReturn) return lose(why);
        mayReturn = false;
        line.abort();
        void join().catch(fail);
      },
    );
    // Switchboard cannot receive ICE candidates after the offer.
    if (isBrokered) await gathered(peer);
    let reply = await exchange();
    // The first ticket may have expired while the page waited.
    if (isBrokered && reply.status === 401) reply = await exchange();
    await peer.setRemoteDescription({ type: 'answer', sdp: await textOf(reply, 'PROVIDER_REFUSED') });
    tellState('open');
    active();
  }

  function fail(cause: unknown): void {
    lose(failure('PROVIDER_REFUSED', cause));
  }

  stream.getTracks().forEach(watchTrack);
  emit('media', { state: 'connecting' });
  atEnd(signal, () => tellState('closed'));
  try {
    await join();
  } catch (cause) {
    fail(cause);
    throw signal.reason;
  }
  return {
    get peer() {
      return peer;
    },
    get channel() {
      return channel;
    },
    stream,
    stop: () => hangUp.abort(),
    say(...events) {
      if (!channel) throw failure('PROVIDER_UNSUPPORTED');
      const say = (): void => events.forEach(send);
      // A visitor who speaks first is answered, and must not be greeted as well.
      deps.greets();
      if (channel.readyState === 'connecting') channel.addEventListener('open', say);
      else say();
    },
    replaceTrack(track) {
      watchTrack(track);
      return peer.getSenders()[0]?.replaceTrack(track);
    },
  };
}
