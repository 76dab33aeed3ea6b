import type { DemoConfig, DemoMachines } from '../../protocol/demo-config.ts';
import type { CallState, ConnectOptions, Session, SessionState, Warning } from '../widget/api.ts';
import { clearCaptions } from './captions.ts';
import { causeOf } from './causes.ts';
import { MachineChart } from './chart.ts';
import { answererOf } from './config.ts';
import { element, say } from './elements.ts';
import type { Show } from './show.ts';
import { startWidget } from './example.js';
import { showUsage, startClocks } from './gauges.ts';
import { notify, reviewNotice } from './notice.ts';
import { Provocations } from './provocations.ts';
import { simulateTalk, talkForReal, type Voice } from './voice.ts';
import { logEntry } from './wire-log.ts';
import { createWire, type Wire } from './wire.ts';

const start = element('start', HTMLButtonElement);
const quiet = element('quiet', HTMLButtonElement);
const status = element('status', HTMLElement);
const transport = element('transport', HTMLElement);
const media = element('media', HTMLElement);
const metered = element('metered', HTMLElement);
const hurry = element('hurry', HTMLElement);
/** Nobody minds waiting for so long to see a silence end. */
const SHORT_SEC = 30;

/** Who tells Switchboard what a call costs that it has opened itself. */
const meters: Readonly<Record<DemoConfig['provider']['meter'], string>> = {
  events: 'the provider’s events',
  clock: 'the clock',
  'report-after': 'the provider’s report',
  none: 'nobody yet',
};

const meanings: Readonly<Record<SessionState, string>> = {
  engaged: 'Engaged: the conversation is on.',
  idle: 'Idle: nobody spoke for too long. The next heartbeat ends it.',
  stale: 'Stale: forgotten by everybody.',
  ended: 'Ended.',
};

/** One visitor on the page: at most one session at a time. */
export class Stage {
  readonly #config: DemoConfig;
  readonly #chart: MachineChart;
  readonly #callChart: MachineChart;
  readonly #wire: Wire;
  readonly #email: string;
  readonly #provocations: Provocations;
  #session: Session | undefined;
  #voice: Voice | undefined;
  #stopClocks = (): void => undefined;

  constructor(config: DemoConfig, machines: DemoMachines) {
    this.#config = config;
    this.#chart = new MachineChart('chart', 'a session', machines.session);
    this.#callChart = new MachineChart('call-chart', 'a call', machines.call);
    this.#wire = createWire((entry) => logEntry(element('wire', HTMLOListElement), entry));
    // Limits are counted for each visitor alone, so that nobody uses up the day of the next one.
    this.#email = `visitor-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}@demo.example`;
    this.#provocations = new Provocations(this.#wire, this.#email);
  }

  /** Lets the visitor begin. */
  open(): void {
    say(element('visitor', HTMLElement), `You are ${this.#email}: the limits count for you alone.`);
    const { email: _email, fetch: _fetch, WebSocket: _socket, ...shown } = this.#options();
    say(
      element('call', HTMLElement),
      `Here it is called with ${JSON.stringify(shown, null, 1).replaceAll(/\s+/g, ' ')}.`,
    );
    start.addEventListener('click', () => void (this.#session === undefined ? this.#start() : this.#session.end()));
    quiet.addEventListener('click', () => this.#setQuiet(quiet.getAttribute('aria-pressed') !== 'true'));
    setInterval(() => this.#tick(), 1000);
    start.disabled = false;
  }

  #options(): ConnectOptions {
    const { widgetKey, tenantId, agentId } = this.#config;
    return {
      ...(widgetKey !== null && { widgetKey }),
      ...(tenantId !== null && { tenantId }),
      ...(agentId !== null && { agentId }),
      // A written conversation needs no microphone.
      ...(answererOf(this.#config) !== 'nobody' && { audio: true }),
      email: this.#email,
      fetch: this.#wire.fetch,
      WebSocket: this.#wire.WebSocket,
    };
  }

  readonly #show: Show = {
    state: (state) => {
      // What ended it is told with the end.
      if (state !== 'ended') this.#chart.enter(state);
      say(status, meanings[state]);
    },
    call: (state) => say(media, state),
    warning: (reason, secondsLeft) => {
      const quietSec = this.#quietSec();
      const isLoud = (): boolean => reason === 'idle' && this.#quietSec() < quietSec;
      notify(warningText(reason, secondsLeft), 'warning', isLoud);
    },
    problem: (userMessage) => notify(userMessage),
    over: (userMessage) => {
      notify(userMessage);
      this.#close();
    },
  };

  async #start(): Promise<void> {
    // Disabled, it would lose the keyboard's focus.
    if (start.getAttribute('aria-busy') === 'true') return;
    start.setAttribute('aria-busy', 'true');
    notify('');
    clearCaptions();
    this.#chart.clear();
    this.#callChart.clear();
    say(status, 'Connecting…');
    const session = await startWidget(this.#options(), this.#show);
    start.setAttribute('aria-busy', 'false');
    if (session === undefined) return;
    this.#session = session;
    this.#hold(session);
    const voice =
      answererOf(this.#config) === 'nobody'
        ? simulateTalk(session, () => this.#setQuiet(true))
        : await talkForReal(session, this.#show);
    if (this.#session === session) this.#voice = voice;
    else voice?.stop();
  }

  #hold(session: Session): void {
    this.#show.state(session.state);
    session.active();
    session.on('usage', ({ usage }) => showUsage(usage));
    session.on('call', ({ state }) => this.#enterCall(state));
    session.on('ended', ({ reason }) => this.#chart.enter('ended', causeOf(reason)));
    session.on('transport', () => this.#showTransport(session));
    this.#showTransport(session);
    this.#watchTrouble(session);
    this.#stopClocks = startClocks(session);
    this.#provocations.offer(session);
    const { maxIdleSec } = session.limits;
    const hint = `In a hurry? Silence may last ${maxIdleSec} seconds here, until MAX_SESSION_IDLE_SEC says something else.`;
    say(hurry, maxIdleSec > SHORT_SEC ? hint : '');
    say(media, answererOf(this.#config) === 'nobody' ? 'simulated' : '–');
    say(metered, session.brokered ? `Switchboard, by ${meters[this.#config.provider.meter]}` : 'this page’s reports');
    start.textContent = 'End the conversation';
    quiet.disabled = false;
    // A report of nothing asks for the day's totals.
    session.reportUsage({}).catch(() => undefined);
  }

  /** A fault that the session goes on without is forgotten with the next heartbeat that is answered. */
  #watchTrouble(session: Session): void {
    let beats = 0;
    session.on('beat', () => (beats += 1));
    session.on('error', ({ userMessage }) => {
      const before = beats;
      notify(userMessage, 'problem', () => beats > before);
    });
  }

  #quietSec(): number {
    return this.#session?.idleSec ?? 0;
  }

  #close(): void {
    if (this.#session === undefined) say(status, 'Not started.');
    this.#session = undefined;
    this.#voice?.stop();
    this.#voice = undefined;
    // The call, if there was one, is over with its session.
    if (this.#callChart.state !== undefined) this.#callChart.enter('closed');
    this.#stopClocks();
    this.#provocations.offer(undefined);
    quiet.setAttribute('aria-pressed', 'false');
    quiet.disabled = true;
    say(transport, '–');
    say(media, '–');
    say(metered, '–');
    start.textContent = 'Start a conversation';
  }

  /** After one that is closed, another call begins anew. */
  #enterCall(state: CallState): void {
    if (this.#callChart.state === 'closed') this.#callChart.clear();
    this.#callChart.enter(state);
  }

  #tick(): void {
    reviewNotice();
    this.#chart.tick();
    this.#callChart.tick();
  }

  #setQuiet(isQuiet: boolean): void {
    quiet.setAttribute('aria-pressed', String(isQuiet));
    this.#voice?.setQuiet(isQuiet);
  }

  #showTransport(session: Session): void {
    say(transport, session.transport === 'socket' ? 'WebSocket' : 'HTTP, every heartbeat a request');
  }
}

const endings: Readonly<Record<Warning['reason'], string>> = {
  idle: 'It is very quiet',
  duration: 'The time is nearly up',
  quota: 'The day’s allowance is nearly used',
};

function warningText(reason: Warning['reason'], secondsLeft: number | undefined): string {
  if (reason === 'quota' && secondsLeft === undefined) return 'Most of the day’s allowance is used.';
  const what = endings[reason];
  return `${what}: the conversation ends in ${secondsLeft} seconds.`;
}
