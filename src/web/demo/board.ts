import type { DemoConfig, DemoMachines } from '../../protocol/site-data.ts';
import type { CallState, MediaEvent, Session, SessionState, Warning } from '../widget/api.ts';
import { causeOf, MachineChart } from './chart.ts';
import { element, say } from './elements.ts';
import { addGauges, askUsage, followUsage, showUsage, startClocks } from './gauges.ts';
import { notify, reviewNotice } from './notice.ts';
import type { Provocations } from './provocations.ts';

const status = element('status', HTMLElement);
const transport = element('transport', HTMLElement);
const media = element('media', HTMLElement);
const metered = element('metered', HTMLElement);
const hurry = element('hurry', HTMLElement);
/** A silence limit up to this length needs no hint for the impatient. */
const SHORT_SEC = 30;

/** What meters a call that Switchboard opened. */
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

/** Everything that the page shows of a session, whether the element or the code of the written conversation opened it. */
export class Board implements Show {
  readonly #config: DemoConfig;
  readonly #provocations: Provocations;
  readonly #chart: MachineChart;
  readonly #callChart: MachineChart;
  #session: Session | undefined;
  #stopClocks = (): void => undefined;

  constructor(config: DemoConfig, machines: DemoMachines, provocations: Provocations) {
    this.#config = config;
    this.#provocations = provocations;
    addGauges('duration', 'silence', 'tokens', 'dollars');
    this.#chart = new MachineChart('chart', 'a session', machines.session);
    this.#callChart = new MachineChart('call-chart', 'a call', machines.call);
    setInterval(() => this.#tick(), 1000);
  }

  /** Clears the previous conversation, because another one is starting. */
  clear(): void {
    notify('');
    this.#chart.clear();
    this.#callChart.clear();
    say(status, 'Connecting…');
  }

  /** @param reporter who reports the call's costs, if Switchboard does not meter it */
  hold(session: Session, reporter: string): void {
    this.#session = session;
    this.state(session.state);
    session.on('usage', ({ usage }) => showUsage(usage));
    session.on('call', ({ state }) => this.#enterCall(state));
    session.on('ended', ({ reason }) => this.#chart.enter('ended', causeOf(reason)));
    session.on('transport', () => this.#showTransport(session));
    this.#showTransport(session);
    this.#watchTrouble(session);
    if (session.brokered) followUsage(session);
    this.#stopClocks = startClocks(session);
    this.#provocations.offer(session);
    const { maxIdleSec } = session.limits;
    const hint = `In a hurry? Silence may last ${maxIdleSec} seconds here, until MAX_SESSION_IDLE_SEC says something else.`;
    say(hurry, maxIdleSec > SHORT_SEC ? hint : '');
    say(metered, session.brokered ? `Switchboard, by ${meters[this.#config.provider.meter]}` : reporter);
    askUsage(session);
  }

  state(state: SessionState): void {
    // `hold` shows the end, with its cause.
    if (state !== 'ended') this.#chart.enter(state);
    say(status, meanings[state]);
  }

  call(state: MediaEvent['state'] | 'simulated'): void {
    say(media, state);
  }

  warning(reason: Warning['reason'], secondsLeft: number | undefined): void {
    const quietSec = this.#quietSec();
    const isLoud = (): boolean => reason === 'idle' && this.#quietSec() < quietSec;
    notify(warningText(reason, secondsLeft), 'warning', isLoud);
  }

  problem(userMessage: string): void {
    notify(userMessage);
  }

  over(userMessage: string): void {
    notify(userMessage, this.#session === undefined ? 'problem' : 'end');
    if (this.#session === undefined) say(status, 'Not started.');
    this.#session = undefined;
    // A call ends with its session.
    if (this.#callChart.state !== undefined) this.#callChart.enter('closed');
    this.#stopClocks();
    this.#provocations.offer(undefined);
    for (const row of [transport, media, metered]) say(row, '–');
  }

  /** Shows an error that does not end the session, until the next heartbeat is answered. */
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

  /** After `closed`, the next state belongs to another call, and the chart starts over. */
  #enterCall(state: CallState): void {
    if (this.#callChart.state === 'closed') this.#callChart.clear();
    this.#callChart.enter(state);
  }

  #showTransport(session: Session): void {
    say(transport, session.transport === 'socket' ? 'WebSocket' : 'HTTP, every heartbeat a request');
  }

  #tick(): void {
    reviewNotice();
    this.#chart.tick();
    this.#callChart.tick();
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

/** What the example code needs from a page. */
export interface Show {
  readonly state: (state: SessionState) => void;
  readonly call: (state: MediaEvent['state']) => void;
  readonly warning: (reason: Warning['reason'], secondsLeft: number | undefined) => void;
  readonly problem: (userMessage: string) => void;
  readonly over: (userMessage: string) => void;
}
