import type { ConnectOptions, Ended, Session, SessionEvents, SwitchboardError, Warning } from '../widget/api.ts';
import { connect } from '../widget/main.ts';

/** Whether what did not work is the microphone alone. */
export function isWithoutMicrophone({ code }: SwitchboardError): boolean {
  return code.startsWith('MICROPHONE_');
}

/** The header of a create that has a token. */
const CHALLENGE = 'X-Switchboard-Challenge';

/** What is to be shown of a conversation. */
export interface ConversationState {
  readonly phase: 'ready' | 'connecting' | 'live' | 'over';
  /** The call's network, or Switchboard itself, is away for now. */
  readonly isCallAway: boolean;
  readonly isServerAway: boolean;
  readonly isQuiet: boolean;
  readonly isMuted: boolean;
  /** The visitor is heard only while they hold a button, and whether they do. */
  readonly isPush: boolean;
  readonly isTalking: boolean;
  readonly isVisitorSpeaking: boolean;
  readonly isAgentSpeaking: boolean;
  /** The provider says that the agent speaks: also in a pause between two words. */
  readonly isAgentOn: boolean;
  /** The visitor writes, and is not heard. */
  readonly isWritten: boolean;
  /** Whether the visitor may change from writing to speaking, or back, and go on. */
  readonly canSwitch: boolean;
  /** A tool of the server runs, for which the agent waits. */
  readonly isThinking: boolean;
  /** Whether the call takes texts. */
  readonly canWrite: boolean;
  readonly microphones: readonly MediaDeviceInfo[];
  /** The one in use. */
  readonly microphone?: string | undefined;
  readonly warning?: (Omit<Warning, 'secondsLeft'> & { readonly endsAtMs?: number | undefined }) | undefined;
  /** Why it is over, or what did not work; without either the visitor ended it. */
  readonly ended?: Ended | undefined;
  readonly error?: SwitchboardError | undefined;
  /** What did not work while it goes on. */
  readonly notice?: SwitchboardError | undefined;
  /** Before then the server would refuse again. */
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

const EVENTS = [
  'state',
  'beat',
  'transport',
  'media',
  'call',
  'level',
  'speaking',
  'transcript',
  'speech',
  'thinking',
  'tool',
  'heard',
  'warning',
  'usage',
  'ended',
  'error',
] as const satisfies readonly (keyof SessionEvents)[];

export interface ConversationListener {
  /** Something that is shown changed. */
  readonly change: (now: ConversationState) => void;
  /** An event of the SDK, or the error because of which there is no session. */
  readonly tell: <T extends keyof SessionEvents>(type: T, event: SessionEvents[T]) => void;
  /** The token of the challenge that a create was refused with. @throws the error itself, where it has none or that is not solved */
  readonly solve: (error: SwitchboardError) => Promise<string>;
}

/** One conversation, from the visitor's wish to its end. */
export interface Conversation {
  readonly state: ConversationState;
  readonly session: Session | undefined;
  readonly mute: (on: boolean) => void;
  readonly send: (text: string) => void;
  /** The agent stops at once. */
  readonly interrupt: () => void;
  /** The visitor presses the button to speak, or lets go of it. */
  readonly talk: (on: boolean) => void;
  readonly use: (deviceId: string) => void;
  /** Changes from speaking to writing, without a microphone, or back; no microphone is no loss: the visitor goes on writing. */
  readonly write: (on: boolean) => void;
  /** Ends it as the visitor's own wish. */
  readonly end: () => Promise<void>;
}

/** @param isWritten begins in writing: no microphone is asked for */
export function converse(
  options: ConnectOptions,
  isWritten: boolean,
  { change, tell, solve }: ConversationListener,
): Conversation {
  /** Aborts what is under way, and what holds on to the page. */
  const controller = new AbortController();
  let now: ConversationState = { ...atRest, phase: 'connecting', isWritten };
  let session: Session | undefined;
  let showDevices = (): void => undefined;

  /** Once over, it stays as it ended. */
  function become(next: Partial<ConversationState>): void {
    if (now.phase === 'over') return;
    now = { ...now, ...next };
    change(now);
  }

  function fail(error: SwitchboardError): void {
    if (now.phase === 'over') return;
    // The visitor asked for nothing on this page: it is as if there had been no token.
    if (error.code === 'RESUME_REFUSED') return become({ phase: 'ready' });
    const retryAtMs = error.retryAfter === undefined ? undefined : Date.now() + error.retryAfter * 1000;
    become({ phase: 'over', error, retryAtMs });
    // In the words for whoever made the page: which origin, which key, which limit.
    console.error('switchboard-widget:', error.code, error.message);
    tell('error', error);
    // A session without a call is of no use to the visitor, and holds a slot.
    controller.abort();
  }

  const reactions: { readonly [T in keyof SessionEvents]?: (event: SessionEvents[T]) => void } = {
    state: ({ state }) => become({ isQuiet: state !== 'engaged', ...(state === 'engaged' && withoutIdleWarning()) }),
    beat: () => now.isServerAway && become({ isServerAway: false }),
    media({ state, error }) {
      if (state === 'lost' && error !== undefined) lose(error);
      const isCallAway = state === 'reconnecting' || state === 'connecting';
      // A new call begins in silence.
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
    // Who writes makes no sound.
    transcript: ({ who }) => who === 'visitor' && become(withoutIdleWarning()),
    // Without its call nobody is heard.
    call: ({ state }) => state === 'closed' && become({ isTalking: false }),
    thinking: ({ on }) => become({ isThinking: on }),
    warning: ({ reason, secondsLeft: left }) =>
      become({ warning: { reason, endsAtMs: left === undefined ? undefined : Date.now() + left * 1000 } }),
    ended(ended) {
      // The hang-up that follows from an end may be heard before it: then the end says why.
      if (now.error?.code === 'CALL_LOST' && ended.reason !== 'closed_by_client')
        now = { ...now, phase: 'live', error: undefined };
      become({ phase: 'over', ended });
      controller.abort();
    },
    error: ({ code }) => code === 'NETWORK_ERROR' && become({ isServerAway: true }),
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

  function attempt(work: () => void): void {
    try {
      work();
      become({ notice: undefined });
    } catch (error) {
      notice(error as SwitchboardError);
    }
  }

  async function showMicrophones({ devices }: Session, stream: MediaStream): Promise<void> {
    const microphones = await devices();
    if (!now.isWritten) become({ microphones, microphone: stream.getAudioTracks()[0]?.getSettings().deviceId });
  }

  /** Opens a call, in the place of the one before. */
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
      // A call that is lost was told by itself. Without a microphone, or another call (CALLS_PER_SESSION), it goes on as it was.
      if (now.phase === 'over') return;
      become({ canSwitch: true });
      // The written call was given up for one whose microphone died as it was joined.
      if ((error as SwitchboardError).code === 'MICROPHONE_LOST') void write(true);
      notice(error as SwitchboardError);
    }
  }

  /** A visitor who is not heard any more goes on writing. */
  function lose(error: SwitchboardError): void {
    if (!isWithoutMicrophone(error) || now.phase !== 'live' || session?.brokered !== true) return fail(error);
    // A change that is under way hears of it by itself.
    if (!now.canSwitch) return;
    void write(true);
    notice(error);
  }

  async function begin(): Promise<void> {
    try {
      // Read at each request: the token goes with the create alone.
      const headers: { [CHALLENGE]?: string } = {};
      const ask = () => connect({ ...options, headers, audio: !isWritten, signal: controller.signal });
      const opened = await ask().catch(async (error: SwitchboardError) => {
        headers[CHALLENGE] = await solve(error);
        return ask();
      });
      delete headers[CHALLENGE];
      session = opened;
      EVENTS.forEach(listen);
      opened.mute(now.isMuted);
      become({ isPush: opened.agent?.push === true });
      // A page that is not secure has none.
      navigator.mediaDevices?.addEventListener('devicechange', () => showDevices(), { signal: controller.signal });
      await join(opened, isWritten);
    } catch (error) {
      fail(error as SwitchboardError);
    }
  }

  // Whoever asked has the conversation before it changes.
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
    send: (text) => attempt(() => session?.send(text)),
    interrupt: () => attempt(() => session?.interrupt()),
    talk: (on) =>
      attempt(() => {
        become({ isTalking: false });
        session?.talk(on);
        become({ isTalking: on });
      }),
    use(deviceId) {
      const chosen = session?.setDevice(deviceId).then(() => become({ microphone: deviceId, notice: undefined }));
      // The one before stays.
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
