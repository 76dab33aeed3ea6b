import type { CreateReply } from '../../protocol/create.ts';
import type { ServerFrame } from '../../protocol/frames.ts';
import { atEnd } from './abort.ts';
import { watchActivity, startHeartbeats } from './heartbeats.ts';
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
  UsageReport,
} from './api.ts';
import { holdCalls } from './calls.ts';
import { keepConnected } from './connection.ts';
import { createTools } from './conversation.ts';
import { createEmitter } from './emitter.ts';
import { SwitchboardError } from './error.ts';
import { makeId, type Post } from './http.ts';
import type { Question } from './socket.ts';
import { holdMicrophone, listMicrophones } from './microphone.ts';
import { LEAVING, onPage, WAKING } from './page.ts';
import { persist } from './backoff.ts';
import { createReports, USAGE_PATH } from './reports.ts';
import { createInCallMessages } from './in-call-messages.ts';

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
  const isBrokered = terms.mode === 'brokered';
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
  /** Undefined on a page that goes on with a session and has opened no call yet. */
  let callState: CallState | undefined = created.resumed ? undefined : 'closed';
  let isSecretUsed = false;
  /** The token with which another page can continue the session. */
  let resume: string | undefined;
  let { intervalSec } = created.heartbeat;
  let state: SessionState = 'engaged';

  const { hear, committed, closed, ...verbs } = createInCallMessages(
    terms.dataChannel === 'none',
    isPush,
    microphone,
    () => present(),
    () => connection.link(),
    runTool,
    emit,
    activity.active,
    () => pulse.wake(),
  );

  function enter(next: SessionState): void {
    if (next === state || state === 'ended') return;
    state = next;
    emit('state', { state });
  }

  function hangUp(why: Ended): void {
    farewell ??= new SwitchboardError(why);
    microphone.drop();
    stop(farewell);
  }

  function enterCall(next: CallState): void {
    if (next === callState) return;
    callState = next;
    if (next === 'closed') closed();
    emit('call', { state: next });
  }

  /** The bearer token for a call. A provider's secret opens any number of calls until it expires, a ticket of Switchboard's only one. */
  async function secret(): Promise<string> {
    if (!isBrokered || !isSecretUsed) {
      isSecretUsed = true;
      return created.client_secret.value;
    }
    const request = () => post<Pick<CreateReply, 'client_secret'>>(TICKET_PATH, proof);
    return (await persist(request, TICKET_TRIES)).client_secret.value;
  }

  function over(why: Ended): void {
    if (state === 'ended') return;
    if (callState && callState !== 'closed') enterCall('closing');
    enter('ended');
    life.abort();
    farewell ??= new SwitchboardError(why);
    closed(why);
    emit('ended', why);
    silence();
    hangUp(why);
  }

  function heard(frame: ServerFrame): void {
    if (frame.type === 'attached') {
      ({ intervalSec } = frame.heartbeat);
      resume = frame.resume ?? resume;
    }
    hear(frame);
    if (frame.type === 'call') {
      if ('event' in frame) emit('heard', frame);
    } else if ('state' in frame) enter(frame.state);
    if ('session' in frame) {
      activity.counted(false);
      emit('beat', { session: frame.session as SessionView });
    }
    if (frame.type === 'warning') emit('warning', frame);
    if (frame.type === 'ended') over(frame);
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
        if ((error as SwitchboardError).code !== 'NETWORK_ERROR' || (state === 'ended' && type === 'heartbeat'))
          throw error;
      }
    }
    return post<T>(path, { ...proof, ...body }, idempotencyKey);
  }

  async function beat(): Promise<void> {
    try {
      const reply = await ask<{ session: SessionView; type?: string }>('heartbeat', HEARTBEAT_PATH, activity.told());
      // `heard` has already handled an answer over the socket.
      if (!reply.type) heard({ ...reply, state: 'engaged' } as ServerFrame);
    } catch (error) {
      const { code, reason = 'not_found', userMessage } = error as RefusalBody;
      if (code !== OVER && code !== 'SESSION_NOT_FOUND') throw error;
      over({ reason, code, userMessage });
    }
  }

  const reports = createReports((amounts, id) => ask<{ usage: Usage }>('usage', USAGE_PATH, amounts, id));
  // At most half of the idle limit, so that the server learns of activity before the limit is reached.
  const pulse = startHeartbeats(
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
      wants: isBrokered ? ['call'] : undefined,
    },
    heard,
    (transport) => emit('transport', { transport }),
    pulse.now,
    () => over(elsewhere),
  );
  onPage(life.signal, WAKING, () => {
    connection.wake();
    pulse.wake();
  });
  onPage(life.signal, LEAVING, () => {
    if (options.keep && resume && callState !== 'closed') {
      options.keep(resume);
      return over(elsewhere);
    }
    hangUp(closedHere);
    connection.link()?.send({ type: 'end' });
    for (const [id, amounts] of reports.waiting)
      void post(USAGE_PATH, { ...proof, ...amounts }, id, true).catch(() => 0);
    void post(END_PATH, proof, undefined, true).catch(() => 0);
  });

  async function reportUsage(report: UsageReport): Promise<Usage> {
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
  }

  async function end(): Promise<void> {
    hangUp(closedHere);
    if (state !== 'ended') await persist(() => post(END_PATH, proof, undefined, true), END_TRIES).catch(() => 0);
    over(closedHere);
  }

  const { present, stop, ...joins } = holdCalls(
    {
      created,
      isBrokered,
      secret,
      microphone,
      options,
      runTool,
      emit,
      active: activity.active,
      reportUsage,
      committed,
      tellState: enterCall,
    },
    () => farewell,
  );
  if (options.signal) atEnd(options.signal, () => void end(), life.signal);
  return {
    id: sm_session_id,
    providerSessionId: created.id,
    clientSecret: created.client_secret,
    brokered: isBrokered,
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
    reportUsage,
    ...joins,
    get muted() {
      return microphone.isMuted;
    },
    mute: microphone.mute,
    devices: listMicrophones,
    async setDevice(deviceId) {
      for (const track of await microphone.choose(deviceId)) await present()?.replaceTrack(track);
    },
    ...verbs,
    rate: (value) => post(RATE_PATH, { ...proof, value }),
    end,
  };
}
