import type { CallState, SessionState } from '../widget/api.ts';
import { element } from './elements.ts';

const chart = element('chart', SVGSVGElement);
const steps = element('call-chart', HTMLOListElement);
const title = element('chart-title', SVGTitleElement);

/** Lights the present state in the drawing; none before a session. */
export function lightState(state: SessionState | 'none'): void {
  chart.dataset['state'] = state;
  const present = state === 'none' ? 'Not started.' : `Now ${state}.`;
  title.textContent = `State chart of a session: engaged, idle, stale, ended. ${present}`;
}

/** Lights the present state of the call; none before there is one. */
export function lightCall(state: CallState | 'none'): void {
  for (const step of steps.children) {
    if (step.textContent === state) step.setAttribute('aria-current', 'step');
    else step.removeAttribute('aria-current');
  }
}

/** The call, if there was one, is over with its session. */
export function closeCall(): void {
  if (steps.querySelector('[aria-current]') !== null) lightCall('closed');
}
