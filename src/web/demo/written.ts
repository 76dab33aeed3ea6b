import type { DemoConfig } from '../../protocol/site-data.ts';
import type { Session } from '../widget/api.ts';
import type { Board } from './board.ts';
import { clearCaptions, Simulation } from './simulation.ts';
import { element, say } from './elements.ts';
import { startWidget } from './example.js';

const start = element('start', HTMLButtonElement);
const quiet = element('quiet', HTMLButtonElement);
const meter = element('level', HTMLMeterElement);
const microphone = element('microphone', HTMLButtonElement);
const note = element('microphone-note', HTMLElement);
const controls = element('controls', HTMLElement);

/** Moves the focus off the button, which is about to do the opposite: a key pressed twice, or held, must not undo it. Tab leads back. */
function leaveStart(): void {
  if (document.activeElement === start) controls.focus();
}

/** Offers a scripted conversation for when nobody answers, with the page's own controls and the SDK. */
export function offerWritten(config: DemoConfig, email: string, board: Board): void {
  const { widgetKey, tenantId, agentId } = config;
  const options = {
    ...(widgetKey !== null && { widgetKey }),
    ...(tenantId !== null && { tenantId }),
    ...(agentId !== null && { agentId }),
    email,
  };
  let session: Session | undefined;
  let simulation: Simulation | undefined;
  let stopListening = (): void => undefined;

  function setQuiet(isQuiet: boolean): void {
    quiet.setAttribute('aria-pressed', String(isQuiet));
    if (isQuiet) simulation?.quiet();
    else simulation?.talk();
  }

  function close(): void {
    setQuiet(true);
    simulation = undefined;
    session = undefined;
    stopListening();
    say(note, '');
    quiet.setAttribute('aria-pressed', 'false');
    quiet.disabled = true;
    microphone.disabled = true;
    leaveStart();
    start.textContent = 'Start a conversation';
  }

  const show = {
    state: board.state.bind(board),
    call: board.call.bind(board),
    warning: board.warning.bind(board),
    problem: board.problem.bind(board),
    over(userMessage: string) {
      board.over(userMessage);
      close();
    },
  };

  async function begin(): Promise<void> {
    // If the button were disabled, it would lose the keyboard focus.
    if (start.getAttribute('aria-busy') === 'true') return;
    start.setAttribute('aria-busy', 'true');
    board.clear();
    clearCaptions();
    session = await startWidget(options, show);
    start.setAttribute('aria-busy', 'false');
    if (session === undefined) return;
    board.hold(session, 'this page’s reports');
    board.call('simulated');
    leaveStart();
    start.textContent = 'End the conversation';
    quiet.disabled = false;
    microphone.disabled = false;
    simulation = new Simulation(session, () => setQuiet(true));
    simulation.talk();
  }

  start.addEventListener('click', () => void (session === undefined ? begin() : session.end()));
  quiet.addEventListener('click', () => setQuiet(quiet.getAttribute('aria-pressed') !== 'true'));
  microphone.addEventListener('click', () => {
    const talking = session;
    if (talking !== undefined) void listen(talking).then((stop) => (stopListening = stop));
  });
  element('written', HTMLElement).hidden = false;
  start.disabled = false;
}

/** Opens the microphone only to measure its level: a voice counts as activity. @returns a function that closes it */
async function listen(session: Session): Promise<() => void> {
  microphone.disabled = true;
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const stopMeter = watchLevel(stream, meter, () => session.state !== 'ended' && session.active());
    say(note, 'Your voice counts as activity. It does not leave this page.');
    const stop = (): void => {
      stopMeter();
      for (const track of stream.getTracks()) track.stop();
    };
    // The conversation may have ended meanwhile.
    if (session.state === 'ended') stop();
    return stop;
  } catch {
    microphone.disabled = false;
    say(note, 'The browser gave no microphone. The simulation works without one.');
    return () => undefined;
  }
}

const LOOK_MS = 100;
/** Louder than a quiet room. */
const VOICE = 0.05;

/** Shows how loud a stream is, and calls `onVoice` while somebody speaks. @returns a function that stops */
function watchLevel(stream: MediaStream, meter: HTMLMeterElement, onVoice: () => void): () => void {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  const samples = new Float32Array(analyser.fftSize);
  context.createMediaStreamSource(stream).connect(analyser);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
    const level = Math.min(1, Math.sqrt(power) * 4);
    meter.value = level;
    if (level > VOICE) onVoice();
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
    meter.value = 0;
    void context.close();
  };
}
