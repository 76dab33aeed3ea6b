import type { Session, SessionView, Usage } from '../widget/api.ts';
import { element } from './elements.ts';

/** The server reads the usage on a way of its own, at about the same time as this page hears the agent cease. */
const METERED_MS = 500;
/** A fifth is left, or less. */
const LOW = 0.2;

const GAUGES = {
  duration: 'Time left',
  silence: 'Silence left',
  tokens: 'Tokens today',
  dollars: 'Dollars today',
} as const;

type Gauge = keyof typeof GAUGES;

/** Puts the gauges before all else that the page's list has, in this order: before this there is nothing to show them in. */
export function addGauges(...order: readonly Gauge[]): void {
  element('gauges', HTMLDListElement).prepend(...order.map(gauge));
}

function gauge(id: Gauge): HTMLElement {
  const row = document.createElement('div');
  const name = document.createElement('dt');
  const text = document.createElement('dd');
  const drawn = document.createElement('dd');
  const bar = document.createElement('progress');
  name.id = `${id}-label`;
  name.textContent = GAUGES[id];
  text.id = `${id}-text`;
  text.textContent = '–';
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

function showLeft(id: Gauge, text: string, left: number, max: number): void {
  show(id, text, Math.max(0, left), max, left <= max * LOW);
}

function clock(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Draws the day's totals against their ceilings. */
export function showUsage({ tokens, dollars, dailyTokenLimit, dailyDollarLimit }: Usage): void {
  const number = new Intl.NumberFormat('en');
  const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });
  showSpent('tokens', `${number.format(tokens)} of ${number.format(dailyTokenLimit)}`, tokens, dailyTokenLimit);
  showSpent('dollars', `${money.format(dollars)} of ${money.format(dailyDollarLimit)}`, dollars, dailyDollarLimit);
}

/** Draws the time and the silence that are left, every second. @returns a function that stops */
export function startClocks(session: Session): () => void {
  const { maxMinutes, maxIdleSec, newVisitorSeconds } = session.limits;
  // Shorter until a new visitor says something.
  let lastsSec = newVisitorSeconds ?? maxMinutes * 60;
  // The server's duration, carried on here: its clock and this one need not agree.
  let startedMs = Date.now();
  session.on('beat', ({ session: { durationSec, startedAt, endsAt } }: { session: SessionView }) => {
    startedMs = Date.now() - durationSec * 1000;
    lastsSec = endsAt === undefined ? maxMinutes * 60 : (Date.parse(endsAt) - Date.parse(startedAt)) / 1000;
  });
  const draw = (): void => {
    const timeLeft = lastsSec - (Date.now() - startedMs) / 1000;
    const silenceLeft = maxIdleSec - session.idleSec;
    showLeft('duration', `${clock(timeLeft)} of ${clock(lastsSec)}`, timeLeft, lastsSec);
    showLeft('silence', `${clock(silenceLeft)} of ${clock(maxIdleSec)}`, silenceLeft, maxIdleSec);
  };
  draw();
  const timer = setInterval(draw, 1000);
  return () => {
    clearInterval(timer);
    for (const id of ['duration', 'silence'] as const) show(id, '–', 0, 1, false);
  };
}

/** Asks for the day's totals after each response of the agent, which has its price, where Switchboard meters the call. */
export function followUsage(session: Session): void {
  const askSoon = (): unknown => setTimeout(() => askUsage(session), METERED_MS);
  session.on('heard', ({ event }) => event === 'listening' && askSoon());
  // An answer in writing is never heard.
  session.on('transcript', ({ who, final }) => who === 'agent' && final && askSoon());
}

/** A report of nothing asks for the day's totals: `usage` tells them. */
export function askUsage(session: Session): void {
  if (session.state !== 'ended') session.reportUsage({}).catch(() => undefined);
}
