import type { AudioCall, Session } from '../widget/api.ts';
import { addCaption } from './captions.ts';
import { element, say } from './elements.ts';
import type { Show } from './show.ts';
import { talk } from './example.js';
import { watchLevel } from './level.ts';
import { Simulation } from './simulation.ts';

/** Whoever talks on this page. */
export interface Voice {
  readonly setQuiet: (isQuiet: boolean) => void;
  readonly stop: () => void;
}

const meter = element('level', HTMLMeterElement);
const button = element('microphone', HTMLButtonElement);
const note = element('microphone-note', HTMLElement);

/** The server reads the usage on a way of its own, at about the same time as this page. */
const METERED_MS = 500;

/** Asks for the day's totals after each response that Switchboard meters. @returns a function that stops */
function followUsage(session: Session, call: AudioCall): () => void {
  const heard = new AbortController();
  const ask = ({ data }: MessageEvent<string>): void => {
    if (JSON.parse(data).type === 'response.done')
      setTimeout(() => void session.reportUsage({}).catch(() => undefined), METERED_MS);
  };
  const listen = (): void => call.channel?.addEventListener('message', ask, { signal: heard.signal });
  listen();
  const forget = session.on('call', ({ state }) => state === 'open' && listen());
  return () => {
    heard.abort();
    forget();
  };
}

/** Writes what both say, as it is recognised; a turn grows in its line. */
function caption(session: Session): void {
  const lines = new Map<string, (text: string) => void>();
  session.on('transcript', ({ id, who, text }) => {
    const write = lines.get(id) ?? addCaption(who === 'visitor' ? 'Visitor' : 'Guide');
    lines.set(id, write);
    write(text);
  });
}

/** The real thing: microphone and speaker joined to the provider. Undefined when that fails; the page was told why. */
export async function talkForReal(session: Session, show: Show): Promise<Voice | undefined> {
  button.hidden = true;
  caption(session);
  const call = await talk(session, show);
  if (call === undefined) return undefined;
  // The call tells the session of voices by itself.
  const stopMeter = watchLevel(call.stream, meter, () => undefined);
  const stopUsage = session.brokered ? followUsage(session, call) : undefined;
  return {
    setQuiet: (isQuiet) => session.mute(isQuiet),
    stop() {
      stopMeter();
      stopUsage?.();
      call.stop();
    },
  };
}

/** A written conversation, and the microphone for its level only. */
export function simulateTalk(session: Session, onDone: () => void): Voice {
  const simulation = new Simulation(session, onDone);
  let stream: MediaStream | undefined;
  let stopMeter = (): void => undefined;

  async function listen(): Promise<void> {
    button.disabled = true;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      stopMeter = watchLevel(stream, meter, () => session.state !== 'ended' && session.active());
      say(note, 'Your voice counts as activity. It does not leave this page.');
    } catch {
      button.disabled = false;
      say(note, 'The browser gave no microphone. The simulation works without one.');
    }
  }

  button.disabled = false;
  const heard = new AbortController();
  button.addEventListener('click', () => void listen(), { signal: heard.signal });
  simulation.talk();
  return {
    setQuiet: (isQuiet) => (isQuiet ? simulation.quiet() : simulation.talk()),
    stop() {
      simulation.quiet();
      stopMeter();
      for (const track of stream?.getTracks() ?? []) track.stop();
      button.disabled = true;
      heard.abort();
      say(note, '');
    },
  };
}
