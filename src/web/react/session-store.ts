import type { Levels, Session, SwitchboardError as Failure } from '../widget/api.ts';
import { connect, SwitchboardError } from '../widget/main.ts';
import type { Shown, UseSwitchboard, UseSwitchboardOptions } from './api.ts';

/** Holds one session at a time, outside of React. Those who have unsubscribed are not notified. */
export interface SessionStore {
  readonly shown: () => Shown;
  readonly subscribe: (listener: () => void) => () => void;
  /** Always the same object with the same functions. */
  readonly verbs: Omit<UseSwitchboard, keyof Shown>;
}

const silent: Levels = { visitor: 0, agent: 0 };
const nobody = { visitor: false, agent: false };
const nothing: Shown = {
  session: undefined,
  state: 'none',
  media: undefined,
  error: undefined,
  warning: undefined,
  transcript: [],
  speaking: nobody,
  muted: false,
};

/** @param options read at each `start` */
export function createSessionStore(options: () => UseSwitchboardOptions): SessionStore {
  const listeners = new Set<() => void>();
  const levels = { current: silent };
  let shown = nothing;
  /** Belongs to the session that was started last; aborted when that session is over or should end. */
  let hold: AbortController | undefined;
  let opened = Promise.resolve();

  function show(change: Partial<Shown>): void {
    shown = { ...shown, ...change };
    for (const listener of listeners) listener();
  }

  function follow(session: Session, own: AbortController): void {
    /** Shows nothing of this session once another has been started. */
    const tell = (change: Partial<Shown>): void => void (hold === own && show(change));
    let passing: Failure | undefined;

    session.on('state', ({ state }) => state !== 'ended' && tell({ state }));
    session.on('beat', () => passing !== undefined && passing === shown.error && tell({ error: undefined }));
    session.on('error', (error) => tell({ error: (passing = error) }));
    session.on('warning', (warning) => tell({ warning }));
    session.on('speaking', (speaking) => tell({ speaking }));
    session.on('level', (level) => void (hold === own && (levels.current = level)));
    session.on('transcript', (turn) => {
      const { transcript: turns } = shown;
      const isKnown = turns.some(({ id }) => id === turn.id);
      tell({ transcript: isKnown ? turns.map((one) => (one.id === turn.id ? turn : one)) : [...turns, turn] });
    });
    session.on('media', ({ state: media, error }) => {
      tell(error === undefined ? { media } : { media, error });
      // Without a call the session is of no use to a visitor who talks.
      if (media === 'lost') own.abort();
    });
    session.on('ended', (why) => {
      own.abort();
      if (hold === own) levels.current = silent;
      tell({ state: 'ended', media: undefined, warning: undefined, speaking: nobody });
      if (why.reason !== 'closed_by_client') tell({ error: new SwitchboardError(why) });
    });
  }

  async function open(own: AbortController): Promise<void> {
    const { call, signal: given, audio = true, ...rest } = options();
    const signal = given === undefined ? own.signal : AbortSignal.any([own.signal, given]);
    show({ ...nothing, state: 'opening', muted: shown.muted });
    let session: Session | undefined;
    try {
      session = await connect({ ...rest, audio, signal });
      follow(session, own);
      session.mute(shown.muted);
      if (hold === own) show({ session, state: session.state });
      if (audio !== false) await session.connectAudio(call);
    } catch (error) {
      // A visitor who ended the session needs no error.
      const isWanted = signal.aborted;
      own.abort();
      if (hold !== own) return;
      if (session === undefined) show({ state: 'none' });
      if (isWanted) return;
      if (!(error instanceof SwitchboardError)) throw error;
      show({ error });
    }
  }

  return {
    shown: () => shown,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    verbs: {
      levels,
      start() {
        if (hold?.signal.aborted !== false) {
          hold = new AbortController();
          opened = open(hold);
        }
        return opened;
      },
      async end() {
        const { session } = shown;
        const isLive = session !== undefined && session.state !== 'ended';
        const over = isLive && new Promise<void>((resolve) => session.on('ended', () => resolve()));
        hold?.abort();
        if (shown.state === 'opening') show({ state: 'none' });
        await over;
      },
      mute(on = true) {
        shown.session?.mute(on);
        show({ muted: on });
      },
      send(text) {
        if (shown.session !== undefined) return shown.session.send(text);
        throw new SwitchboardError({
          code: 'CALL_LOST',
          error: 'There is no call.',
          userMessage: 'The call was lost.',
        });
      },
    },
  };
}
