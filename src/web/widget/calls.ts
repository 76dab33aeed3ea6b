import type { AudioCall, AudioOptions, Session } from './api.ts';
import { callProvider, type CallDeps } from './audio.ts';
import { failure, type SwitchboardError } from './error.ts';
import { silence } from './microphone.ts';

/** The calls of a session, one at a time. */
export interface Calls extends Pick<Session, 'connectAudio' | 'connectText'> {
  /** Undefined where none is open. */
  readonly present: () => AudioCall | undefined;
  /** Hangs up. @param why whoever waits for the call is told */
  readonly hangUp: (why: SwitchboardError) => void;
}

/** @param farewell why there can be no other call, once the session is over */
export function holdCalls(
  deps: Omit<CallDeps, 'hangUp' | 'greets'>,
  farewell: () => SwitchboardError | undefined,
): Calls {
  /** Ends the present call, and says why there can be no other. */
  let hangUp = new AbortController();
  let opened: AudioCall | undefined;
  let isWritten = false;
  /** Nobody else asks for it in the calls that a page has with the provider itself. */
  let isToGreet = !deps.session.brokered && deps.session.agent?.greets === true;

  const present = (): AudioCall | undefined => (hangUp.signal.aborted ? undefined : opened);

  const greets = (): boolean => isToGreet && !(isToGreet = false);

  async function open(options: AudioOptions, willWrite: boolean): Promise<AudioCall> {
    const { microphone } = deps;
    const isToBeHeard = isWritten && !willWrite && present() && !options.stream;
    try {
      // Who is not given the microphone goes on writing.
      if (isToBeHeard) await microphone.prepare();
      // The call that there is stays until Switchboard gives a ticket for another.
      const tickets = present() ? [await deps.secret()] : [];
      // It may have died meanwhile.
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
    hangUp: (why) => hangUp.abort(why),
  };
}
