import type { SessionState } from '../widget/api.ts';
import { element } from './elements.ts';

const chart = element('chart', SVGSVGElement);
const title = element('chart-title', SVGTitleElement);

/** Lights the present state in the drawing; none before a session. */
export function lightState(state: SessionState | 'none'): void {
  chart.dataset['state'] = state;
  const present = state === 'none' ? 'Not started.' : `Now ${state}.`;
  title.textContent = `State chart of a session: engaged, idle, stale, ended. ${present}`;
}
