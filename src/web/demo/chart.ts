import type { SessionState } from '../widget/api.ts';
import { element } from './elements.ts';

const chart = element('chart', SVGSVGElement);
const title = element('chart-title', SVGTitleElement);

/** Lights the present state in the drawing. */
export function lightState(state: SessionState): void {
  chart.dataset['state'] = state;
  title.textContent = `State chart of a session: engaged, idle, stale, ended. Now ${state}.`;
}
