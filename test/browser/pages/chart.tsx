import '../../../src/web/shared/tokens.css';
import { render } from 'preact';
import { StateChart, type StateChartProps } from '../../../src/web/console/chart/chart.tsx';

/** How a test says what the page is to show. */
declare global {
  interface Window {
    show(props: StateChartProps): void;
  }
}

const root = document.querySelector('#chart');
window.show = (props) => {
  if (root !== null) render(<StateChart {...props} />, root);
};
