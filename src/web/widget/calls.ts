import type { AudioCall, AudioOptions, Session } from './api.ts';
import { callProvider, type CallDeps } from './audio.ts';
import { failure, type SwitchboardError } from './error.ts';
import { silence } from './microphone.ts';

/** The calls of a session, of which at most one is open. */
export interface Calls extends Pick<Session, 'connectAudio' | 'connectText'> {
  /** The open call; undefined if there is none. */
  readonly present: () => AudioCall | undefined;
  /** Hangs up. @param why the error for those who are waiting for the call */
  readonly stop: (why: SwitchboardError) => void;
}

/** @param farewell why there can be no more calls, once the session is over */
export function holdCalls(
  deps: Omit<CallDeps, 'hangUp' | 'greets'>,
  farewell: () => SwitchboardError | undefined,
): Calls {
  /** Ends the current call. Its reason says why there can be no other. */
  let hangUp = new AbortController();
  let opened: AudioCall | undefined;
  let isWritten = false;
  /** In a call that the page has with the provider directly, only the page can ask for the greeting. */
  let isToGreet = !deps.isBrokered && deps.created.agent?.greets === true;

  const present = (): AudioCall | undefined => (hangUp.signal.aborted ? undefined : opened);

  const greets = (): boolean => isToGreet && !(isToGreet = false);

  async function open(options: AudioOptions, willWrite: boolean): Promise<AudioCall> {
    const { microphone } = deps;
    const isToBeHeard = isWritten && !willWrite && present() && !options.stream;
    try {
      // A visitor who refuses the microphone goes on writing.
      if (isToBeHeard) await microphone.prepare();
      // The current call stays until Switchboard gives a ticket for the next.
      const tickets = present() ? [await deps.secret()] : [];
      // The microphone may have been lost while waiting for the ticket.
      if (isToBeHeard) await microphone.prepare();
      const secret = async (): Promise<string> => tickets.pop() ?? deps.secret();
      isWritten = willWrite;
      hangUp.abort(failure('CALL_LOST'));
      const own = (hangUp = new AbortController());
      opened = undefined;
      const why = farewell();
      if (why) own.abort(why);
      const stream = isWritten ? silence(own.signal) : options.stream;
      const call = await callProvider({ ...deps, secret, greets, hangUp: own }, { ...options, stream });
      if (hangUp === own) opened = call;
      return call;
    } catch (error) {
      microphone.drop();
      throw error;
    }
  }

  return {
    present,
    connectAudio: (options = {}) => open(options, false),
    connectText(options = {}) {
      deps.microphone.drop();
      return open(options, true);
    },
    stop: (why) => hangUp.abort(why),
  };
}
