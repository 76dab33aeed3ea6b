import type { Session, SessionView, Usage } from '../widget/api.ts';
import { clock, element, make } from './elements.ts';

/** Gives the server time to read the usage, which reaches it at about the time when this page hears the agent stop. */
const METERED_MS = 500;
/** A gauge is low when at most this share is left. */
const LOW = 0.2;

const GAUGES = {
  duration: 'Time left',
  silence: 'Silence left',
  tokens: 'Tokens today',
  dollars: 'Dollars today',
} as const;

type Gauge = keyof typeof GAUGES;

/** Puts the gauges at the top of the page's list, in this order. Must be called before they are shown. */
export function addGauges(...order: readonly Gauge[]): void {
  element('gauges', HTMLDListElement).prepend(...order.map(gauge));
}

function gauge(id: Gauge): HTMLElement {
  const row = make('div');
  const name = make('dt', '', GAUGES[id]);
  const text = make('dd', '', '–');
  const drawn = make('dd');
  const bar = make('progress');
  name.id = `${id}-label`;
  text.id = `${id}-text`;
  bar.id = id;
  bar.setAttribute('aria-labelledby', name.id);
  bar.value = 0;
  drawn.append(bar);
  row.append(name, text, drawn);
  return row;
}

function show(id: Gauge, text: string, value: number, max: number, isLow: boolean): void {
  element(`${id}-text`, HTMLElement).textContent = text;
  const bar = element(id, HTMLProgressElement);
  bar.max = max;
  bar.value = value;
  bar.classList.toggle('low', isLow);
}

function showSpent(id: Gauge, text: string, spent: number, max: number): void {
  show(id, text, spent, max, spent >= max * (1 - LOW));
}

function showLeft(id: Gauge, sec: number, maxSec: number): void {
  show(id, `${whole(sec)} of ${whole(maxSec)}`, Math.max(0, sec), maxSec, sec <= maxSec * LOW);
}

/** Rounded up, so that a gauge shows nothing only when nothing is left. */
function whole(seconds: number): string {
  return clock(Math.max(0, Math.ceil(seconds)));
}

/** Shows the day's totals and their ceilings. */
export function showUsage({ tokens, dollars, dailyTokenLimit, dailyDollarLimit }: Usage): void {
  const number = new Intl.NumberFormat('en');
  const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });
  showSpent('tokens', `${number.format(tokens)} of ${number.format(dailyTokenLimit)}`, tokens, dailyTokenLimit);
  showSpent('dollars', `${money.format(dollars)} of ${money.format(dailyDollarLimit)}`, dollars, dailyDollarLimit);
}

/** Shows every second how much time and how much silence are left. @returns a function that stops */
export function startClocks(session: Session): () => void {
  const { maxMinutes, maxIdleSec, newVisitorSeconds } = session.limits;
  // A new visitor's session is shorter until the visitor says something.
  let lastsSec = newVisitorSeconds ?? maxMinutes * 60;
  // Continues the duration that the server reports, because its clock and this one may differ.
  let startedMs = Date.now();
  session.on('beat', ({ session: { durationSec, startedAt, endsAt } }: { session: SessionView }) => {
    startedMs = Date.now() - durationSec * 1000;
    lastsSec = endsAt === undefined ? maxMinutes * 60 : (Date.parse(endsAt) - Date.parse(startedAt)) / 1000;
  });
  const draw = (): void => {
    const timeLeft = lastsSec - (Date.now() - startedMs) / 1000;
    const silenceLeft = maxIdleSec - session.idleSec;
    showLeft('duration', timeLeft, lastsSec);
    showLeft('silence', silenceLeft, maxIdleSec);
  };
  draw();
  const timer = setInterval(draw, 1000);
  return () => {
    clearInterval(timer);
    for (const id of ['duration', 'silence'] as const) show(id, '–', 0, 1, false);
  };
}

/** If Switchboard meters the call, asks for the day's totals after each response of the agent, because each has a price. */
export function followUsage(session: Session): void {
  const askSoon = (): unknown => setTimeout(() => askUsage(session), METERED_MS);
  session.on('heard', ({ event }) => event === 'listening' && askSoon());
  // A written answer is never heard.
  session.on('transcript', ({ who, final }) => who === 'agent' && final && askSoon());
}

/** Asks for the day's totals with an empty report; the `usage` event has them. */
export function askUsage(session: Session): void {
  if (session.state !== 'ended') session.reportUsage({}).catch(() => undefined);
}
