import '../../../src/web/shared/tokens.css';
import { render } from 'preact';
import { StateChart, type StateChartProps } from '../../../src/web/console/chart/chart.tsx';

/** How a test tells the page what to show. */
declare global {
  interface Window {
    show(...charts: readonly StateChartProps[]): void;
  }
}

const root = document.querySelector('#chart');
window.show = (...charts) => {
  if (root !== null)
    render(
      charts.map((props, index) => <StateChart key={index} {...props} />),
      root,
    );
};
