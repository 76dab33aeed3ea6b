import type { CreateReply } from '../../protocol/create.ts';
import type { ServerFrame } from '../../protocol/frames.ts';
import { atEnd } from './abort.ts';
import { watchActivity } from './activity.ts';
import type {
  CallState,
  ConnectOptions,
  Ended,
  RefusalBody,
  Session,
  SessionEvents,
  SessionState,
  SessionView,
  Usage,
} from './api.ts';
import { holdCalls } from './calls.ts';
import { keepConnected } from './connection.ts';
import { createTools } from './conversation.ts';
import { createEmitter } from './emitter.ts';
import { SwitchboardError } from './error.ts';
import type { Post } from './http.ts';
import { makeId } from './id.ts';
import type { Question } from './link.ts';
import { holdMicrophone, listMicrophones } from './microphone.ts';
import { watchPage } from './page.ts';
import { persist } from './patience.ts';
import { startPulse } from './pulse.ts';
import { createReports, USAGE_PATH } from './reports.ts';
import { createWords } from './words.ts';

const HEARTBEAT_PATH = '/api/realtime/heartbeat';
const END_PATH = '/api/realtime/end';
const RATE_PATH = '/api/realtime/rate';
const TICKET_PATH = '/api/realtime/ticket';
/** A visitor is waiting to speak: after this many tries the call is lost. */
const TICKET_TRIES = 3;
/** After this many tries to end the session, the server is left to end it by its own clock. */
const END_TRIES = 5;

const OVER = 'SESSION_DURATION_EXCEEDED';
const closedHere: Ended = { reason: 'closed_by_client', code: OVER, userMessage: 'This conversation was closed.' };

const elsewhere: Ended = {
  reason: 'resumed_elsewhere',
  code: OVER,
  userMessage: 'This goes on elsewhere.',
};

/** Holds a created session until it is over. @param opened the microphone for its first call, if the page opened it before */
export function holdSession(
  created: CreateReply,
  baseUrl: string,
  options: ConnectOptions,
  post: Post,
  opened: MediaStream | undefined,
): Session {
  const { sm_session_id, limits, agent, call: terms } = created;
  const proof = { sm_session_id, email: options.email };
  const { on, off, emit, silence } = createEmitter<SessionEvents>();
  const activity = watchActivity();
  const runTool = createTools(options.tools, emit, terms.serverTools);
  const isPush = agent?.push === true;
  const microphone = holdMicrophone(options.audio || true, opened, isPush);
  /** Aborted when the session ends. */
  const life = new AbortController();
  /** Why there can be no more calls. */
  let farewell: SwitchboardError | undefined;
  let callState: CallState = 'closed';
  let isSecretUsed = false;
  /** The token with which another page can continue the session. */
  let resume: string | undefined;
  let { intervalSec } = created.heartbeat;
  let state: SessionState = 'engaged';

  const words = createWords({
    isLocked: terms.dataChannel === 'none',
    isPush,
    microphone,
    call: () => calls.present(),
    link: () => connection.link(),
    runTool,
    emit,
    active: activity.active,
  });

  function enter(next: SessionState): void {
    if (next === state || state === 'ended') return;
    state = next;
    emit('state', { state });
  }

  function seen(session: SessionView): void {
    activity.counted(false);
    emit('beat', { session });
  }

  function hangUp(why: Ended): void {
    farewell ??= new SwitchboardError(why);
    microphone.drop();
    calls.hangUp(farewell);
  }

  function enterCall(next: CallState): void {
    if (next === callState) return;
    callState = next;
    if (next === 'closed') words.closed();
    emit('call', { state: next });
  }

  /** The bearer token for a call. A provider's secret opens any number of calls until it expires, a ticket of Switchboard's only one. */
  async function secret(): Promise<string> {
    if (!session.brokered || !isSecretUsed) {
      isSecretUsed = true;
      return created.client_secret.value;
    }
    const { client_secret } = await persist(
      () => post<Pick<CreateReply, 'client_secret'>>(TICKET_PATH, proof),
      TICKET_TRIES,
    );
    return client_secret.value;
  }

  function over({ reason, code, userMessage }: Ended): void {
    if (state === 'ended') return;
    if (callState !== 'closed') enterCall('closing');
    enter('ended');
    life.abort();
    const why = { reason, code, userMessage };
    farewell ??= new SwitchboardError(why);
    emit('ended', why);
    silence();
    hangUp(why);
  }

  function heard(frame: ServerFrame): void {
    if (frame.type === 'attached') {
      ({ intervalSec } = frame.heartbeat);
      resume = frame.resume ?? resume;
    }
    words.hear(frame);
    if (frame.type === 'call') {
      if ('event' in frame) emit('heard', frame);
    } else if ('state' in frame) enter(frame.state);
    if ('session' in frame) seen(frame.session as SessionView);
    if (frame.type === 'warning') emit('warning', frame);
    if (frame.type === 'ended') over(frame);
    if (frame.type === 'error') emit('error', new SwitchboardError(frame));
  }

  /** Asks over the socket, or over HTTP if there is no socket or it is lost before the answer. */
  async function ask<T extends object>(
    type: Question['type'],
    path: string,
    body: object,
    idempotencyKey?: string,
  ): Promise<T> {
    const link = connection.link();
    if (link) {
      try {
        return (await link.ask({ type, id: idempotencyKey ?? makeId(), ...body } as Question)) as T;
      } catch (error) {
        // An ended session needs no heartbeat, but its reports still count.
        const isMoot = state === 'ended' && type === 'heartbeat';
        if ((error as SwitchboardError).code !== 'NETWORK_ERROR' || isMoot) throw error;
      }
    }
    return post<T>(path, { ...proof, ...body }, idempotencyKey);
  }

  async function beat(): Promise<void> {
    try {
      const reply = await ask<{ session: SessionView; type?: string }>('heartbeat', HEARTBEAT_PATH, activity.told());
      // `heard` has already handled an answer over the socket.
      if (reply.type) return;
      enter('engaged');
      seen(reply.session);
    } catch (error) {
      const { code } = error as RefusalBody;
      if (code !== OVER && code !== 'SESSION_NOT_FOUND') throw error;
      over({ ...(error as RefusalBody), reason: (error as RefusalBody).reason ?? 'not_found' });
    }
  }

  const reports = createReports((amounts, id) => ask<{ usage: Usage }>('usage', USAGE_PATH, amounts, id));
  // At most half of the idle limit, so that the server learns of activity before the limit is reached.
  const pulse = startPulse(
    life.signal,
    () => Math.min(intervalSec, limits.maxIdleSec / 2) * 1000,
    beat,
    (error) => emit('error', error as SwitchboardError),
  );
  const connection = keepConnected(
    life.signal,
    baseUrl,
    options.WebSocket ?? globalThis.WebSocket,
    {
      type: 'attach',
      ...proof,
      language: options.language,
      wants: terms.mode === 'brokered' ? ['call'] : undefined,
    },
    {
      frame: heard,
      transport: (transport) => emit('transport', { transport }),
      doubt: () => pulse.now(),
      moved: () => over(elsewhere),
    },
  );
  watchPage(
    life.signal,
    () => {
      connection.wake();
      pulse.wake();
    },
    () => {
      if (options.keep && resume && callState !== 'closed') {
        options.keep(resume);
        return over(elsewhere);
      }
      hangUp(closedHere);
      connection.link()?.send({ type: 'end' });
      for (const [id, amounts] of reports.waiting)
        void post(USAGE_PATH, { ...proof, ...amounts }, id, true).catch(() => 0);
      void post(END_PATH, proof, undefined, true).catch(() => 0);
    },
  );

  const session: Session = {
    id: sm_session_id,
    providerSessionId: created.id,
    clientSecret: created.client_secret,
    brokered: terms.mode === 'brokered',
    limits,
    agent,
    on,
    off,
    get state() {
      return state;
    },
    get transport() {
      return connection.link() ? 'socket' : 'http';
    },
    get idleSec() {
      return activity.idleSec();
    },
    active: activity.active,
    async reportUsage(report) {
      try {
        const usage = await reports.send(report);
        activity.counted(true);
        emit('usage', { usage });
        return usage;
      } catch (error) {
        const { code, userMessage } = error as SwitchboardError;
        if (code === 'DAILY_QUOTA_EXCEEDED') over({ reason: 'quota_exceeded', code: OVER, userMessage });
        throw error;
      }
    },
    connectAudio: (audioOptions) => calls.connectAudio(audioOptions),
    connectText: (textOptions) => calls.connectText(textOptions),
    get muted() {
      return microphone.isMuted;
    },
    mute: microphone.mute,
    devices: listMicrophones,
    async setDevice(deviceId) {
      for (const track of await microphone.choose(deviceId)) await calls.present()?.replaceTrack(track);
    },
    send: words.send,
    interrupt: words.interrupt,
    talk: words.talk,
    rate: (value) => post(RATE_PATH, { ...proof, value }),
    async end() {
      hangUp(closedHere);
      if (state !== 'ended') await persist(() => post(END_PATH, proof, undefined, true), END_TRIES).catch(() => 0);
      over(closedHere);
    },
  };
  const calls = holdCalls(
    {
      session,
      terms,
      secret,
      microphone,
      options,
      runTool,
      emit,
      committed: words.committed,
      tellState: enterCall,
    },
    () => farewell,
  );
  if (options.signal) atEnd(options.signal, () => void session.end(), life.signal);
  return session;
}
