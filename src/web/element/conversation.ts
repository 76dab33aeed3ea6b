import type { ConnectOptions, Ended, Session, SessionEvents, SwitchboardError, Warning } from '../widget/api.ts';
import { connect } from '../widget/main.ts';
import { EVENTS } from './events.ts';

/** Whether only the microphone failed. */
export function isWithoutMicrophone({ code }: SwitchboardError): boolean {
  return code.startsWith('MICROPHONE_');
}

/** The header of a create with a challenge token. */
const CHALLENGE = 'X-Switchboard-Challenge';

/** What to show of a conversation. */
export interface ConversationState {
  readonly phase: 'ready' | 'connecting' | 'live' | 'over';
  /** Whether the call's network, or Switchboard itself, is away at the moment. */
  readonly isCallAway: boolean;
  readonly isServerAway: boolean;
  readonly isQuiet: boolean;
  readonly isMuted: boolean;
  /** Push-to-talk: whether the visitor is heard only while holding a button, and whether they hold it. */
  readonly isPush: boolean;
  readonly isTalking: boolean;
  readonly isVisitorSpeaking: boolean;
  readonly isAgentSpeaking: boolean;
  /** The provider says that the agent is speaking; also true in the pauses between words. */
  readonly isAgentOn: boolean;
  /** The visitor writes, and is not heard. */
  readonly isWritten: boolean;
  /** Whether the visitor may switch between writing and speaking during the conversation. */
  readonly canSwitch: boolean;
  /** A server tool is running, and the agent waits for it. */
  readonly isThinking: boolean;
  /** Whether the call accepts texts. */
  readonly canWrite: boolean;
  readonly microphones: readonly MediaDeviceInfo[];
  /** The device id of the microphone in use. */
  readonly microphone?: string | undefined;
  readonly warning?: (Omit<Warning, 'secondsLeft'> & { readonly endsAtMs?: number | undefined }) | undefined;
  /** Why it is over, or what failed. If both are missing, the visitor ended it. */
  readonly ended?: Ended | undefined;
  readonly error?: SwitchboardError | undefined;
  /** A failure that did not end the conversation. */
  readonly notice?: SwitchboardError | undefined;
  /** Until then the server would refuse again. */
  readonly retryAtMs?: number | undefined;
}

export const atRest: ConversationState = {
  phase: 'ready',
  isCallAway: false,
  isServerAway: false,
  isQuiet: false,
  isMuted: false,
  isPush: false,
  isTalking: false,
  isVisitorSpeaking: false,
  isAgentSpeaking: false,
  isAgentOn: false,
  isWritten: false,
  canSwitch: false,
  isThinking: false,
  canWrite: false,
  microphones: [],
};

export interface ConversationListener {
  /** Called when something that is shown has changed. */
  readonly change: (now: ConversationState) => void;
  /** Called with an event of the SDK, or with the error because of which there is no session. */
  readonly tell: <T extends keyof SessionEvents>(type: T, event: SessionEvents[T]) => void;
  /** Solves the challenge that came with the refusal of a create. @returns its token @throws the error, if it has no challenge or solving fails */
  readonly solve: (error: SwitchboardError) => Promise<string>;
}

/** One conversation, from when the visitor asks for it until it ends. */
export interface Conversation {
  readonly state: ConversationState;
  readonly session: Session | undefined;
  readonly mute: (on: boolean) => void;
  readonly send: (text: string) => void;
  /** Stops the agent at once. */
  readonly interrupt: () => void;
  /** Push-to-talk: the visitor presses the button, or lets go of it. */
  readonly talk: (on: boolean) => void;
  readonly use: (deviceId: string) => void;
  /** Switches from speaking to writing, without a microphone, or back. If the microphone is not available, the visitor goes on writing. */
  readonly write: (on: boolean) => void;
  /** Ends the conversation at the visitor's request. */
  readonly end: () => Promise<void>;
}

/** @param isWritten whether to begin in writing, without asking for a microphone */
export function converse(
  options: ConnectOptions,
  isWritten: boolean,
  { change, tell, solve }: ConversationListener,
): Conversation {
  /** Cancels what is in progress, and removes listeners from the page. */
  const controller = new AbortController();
  let now: ConversationState = { ...atRest, phase: 'connecting', isWritten };
  let session: Session | undefined;
  let showDevices = (): void => undefined;

  /** Does nothing once the conversation is over, so that the state shows how it ended. */
  function become(next: Partial<ConversationState>): void {
    if (now.phase === 'over') return;
    now = { ...now, ...next };
    change(now);
  }

  function fail(error: SwitchboardError): void {
    if (now.phase === 'over') return;
    // The visitor did not ask for anything on this page, so it looks as if there had been no token.
    if (error.code === 'RESUME_REFUSED') return become({ phase: 'ready' });
    const retryAtMs = error.retryAfter === undefined ? undefined : Date.now() + error.retryAfter * 1000;
    become({ phase: 'over', error, retryAtMs });
    // The message for the page's developer: which origin, which key, which limit.
    console.error('switchboard-widget:', error.code, error.message);
    tell('error', error);
    // A session without a call is of no use to the visitor, and occupies a slot.
    controller.abort();
  }

  const reactions: { readonly [T in keyof SessionEvents]?: (event: SessionEvents[T]) => void } = {
    state: ({ state }) => become({ isQuiet: state !== 'engaged', ...(state === 'engaged' && withoutIdleWarning()) }),
    beat: () => now.isServerAway && become({ isServerAway: false }),
    media({ state, error }) {
      if (state === 'lost' && error !== undefined) lose(error);
      const isCallAway = state === 'reconnecting' || state === 'connecting';
      // In a new call the agent does not speak yet.
      if (state === 'connecting') become({ isAgentOn: false });
      become({ isCallAway, ...(state === 'connected' && { phase: 'live' }) });
    },
    speech: ({ who, on }) => who === 'agent' && become({ isAgentOn: on }),
    speaking: ({ visitor, agent }) =>
      become({
        isVisitorSpeaking: visitor,
        isAgentSpeaking: agent,
        ...((visitor || agent) && { isQuiet: false, ...withoutIdleWarning() }),
      }),
    // A visitor who writes makes no sound.
    transcript: ({ who }) => who === 'visitor' && become(withoutIdleWarning()),
    // Without a call the visitor is not heard.
    call: ({ state }) => state === 'closed' && become({ isTalking: false }),
    thinking: ({ on }) => become({ isThinking: on }),
    warning: ({ reason, secondsLeft: left }) =>
      become({ warning: { reason, endsAtMs: left === undefined ? undefined : Date.now() + left * 1000 } }),
    ended(ended) {
      // An end causes a hang-up, which may be noticed first. The end then says why.
      if (now.error?.code === 'CALL_LOST' && ended.reason !== 'closed_by_client')
        now = { ...now, phase: 'live', error: undefined };
      become({ phase: 'over', ended });
      controller.abort();
    },
    error(error) {
      if (error.code === 'NETWORK_ERROR') become({ isServerAway: true });
      if (error.text) become({ notice: error });
    },
  };

  function withoutIdleWarning(): Partial<ConversationState> {
    return now.warning?.reason === 'idle' ? { warning: undefined } : {};
  }

  function listen(type: keyof SessionEvents): void {
    session?.on(type, (event) => {
      tell(type, event);
      (reactions[type] as ((event: unknown) => void) | undefined)?.(event);
    });
  }

  function notice(error: SwitchboardError): void {
    tell('error', error);
    become({ notice: error });
  }

  /** @param text what the visitor wrote, if that is what this sends */
  function attempt(work: () => void, text?: string): void {
    try {
      work();
      become({ notice: undefined });
    } catch (error) {
      notice(Object.assign(error as SwitchboardError, { text }));
    }
  }

  async function showMicrophones({ devices }: Session, stream: MediaStream): Promise<void> {
    const microphones = await devices();
    if (!now.isWritten) become({ microphones, microphone: stream.getAudioTracks()[0]?.getSettings().deviceId });
  }

  /** Opens a call, which replaces the previous one. */
  async function join(opened: Session, isWritten: boolean): Promise<void> {
    if (isWritten) {
      await opened.connectText();
      become({ isWritten, microphones: [] });
    } else {
      const { stream } = await opened.connectAudio();
      become({ isWritten });
      showDevices = () => void showMicrophones(opened, stream).catch(() => 0);
      showDevices();
    }
    become({ canWrite: true, canSwitch: opened.brokered });
  }

  async function write(isWritten: boolean): Promise<void> {
    if (session === undefined || !now.canSwitch) return;
    become({ canSwitch: false, notice: undefined });
    try {
      await join(session, isWritten);
    } catch (error) {
      // `lose` has handled a lost call. If there is no microphone or no further call (CALLS_PER_SESSION), the conversation goes on as it was.
      if (now.phase === 'over') return;
      become({ canSwitch: true });
      // The written call was given up for a spoken one, whose microphone was lost while it was joined.
      if ((error as SwitchboardError).code === 'MICROPHONE_LOST') void write(true);
      notice(error as SwitchboardError);
    }
  }

  /** A visitor whose microphone is lost goes on in writing. */
  function lose(error: SwitchboardError): void {
    const isJoined = now.phase === 'live' || options.resume;
    if (!isWithoutMicrophone(error) || !isJoined || session?.brokered !== true) return fail(error);
    // A switch is in progress, and will see the failure itself.
    if (!now.canSwitch) return;
    void write(true);
    notice(error);
  }

  async function begin(): Promise<void> {
    try {
      // The headers are read at each request, and only the create may have the token.
      const headers: { [CHALLENGE]?: string } = {};
      // A conversation that goes on from another page must not wait for a microphone, of which every page may have to ask.
      const audio = !isWritten && !options.resume;
      const ask = () => connect({ ...options, headers, audio, signal: controller.signal });
      const opened = await ask().catch(async (error: SwitchboardError) => {
        headers[CHALLENGE] = await solve(error);
        return ask();
      });
      delete headers[CHALLENGE];
      session = opened;
      EVENTS.forEach(listen);
      opened.mute(now.isMuted);
      become({ isPush: opened.agent?.push === true });
      // Insecure pages have no media devices.
      navigator.mediaDevices?.addEventListener('devicechange', () => showDevices(), { signal: controller.signal });
      await join(opened, isWritten).catch((error: SwitchboardError) => {
        if (!options.resume || !isWithoutMicrophone(error)) throw error;
        notice(error);
        return join(opened, true);
      });
    } catch (error) {
      fail(error as SwitchboardError);
    }
  }

  // Callers must have the conversation before its state changes.
  queueMicrotask(() => void begin());
  return {
    get state() {
      return now;
    },
    get session() {
      return session;
    },
    mute(on) {
      session?.mute(on);
      become({ isMuted: on });
    },
    send: (text) => attempt(() => session?.send(text), text),
    interrupt: () => attempt(() => session?.interrupt()),
    talk: (on) =>
      attempt(() => {
        become({ isTalking: false });
        session?.talk(on);
        become({ isTalking: on });
      }),
    use(deviceId) {
      const chosen = session?.setDevice(deviceId).then(() => become({ microphone: deviceId, notice: undefined }));
      // On failure the previous microphone stays.
      chosen?.catch(notice);
    },
    write: (on) => void write(on),
    async end() {
      become({ phase: 'over' });
      await session?.end();
      controller.abort();
    },
  };
}
