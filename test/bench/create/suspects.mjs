// What deciding who has to solve a challenge adds to a create. Nobody in these runs has to: they are browsers, far from every limit.
import { startWithStores } from '../support/stores.mjs';
import { startSwitchboard } from '../switchboard.mjs';

const GOAL = 'P20: with altcha for suspects at least 0.98 of none, by CPU';

/** Values of BOT_PROVIDER; the first is the yardstick. */
const PROVIDERS = { none: 'nobody is judged', heuristic: 'headers are judged', altcha: 'suspects are challenged' };

/**
 * The tables to measure, each of its own servers.
 * @param prepare starts the product with the function, the build and the environment that it is given, and adds the `requests`
 */
export function challenging(prepare) {
  const tableOf = (where, start) => ({
    title: `Creates of ordinary visitors, ${where}`,
    goal: GOAL,
    candidates: Object.fromEntries(
      Object.entries(PROVIDERS).map(([provider, what]) => [
        provider,
        { label: `${provider}: ${what}`, start: () => prepare(start, undefined, { BOT_PROVIDER: provider }) },
      ]),
    ),
  });
  return [tableOf('embedded', startSwitchboard), tableOf('with PostgreSQL and Redis', startWithStores)];
}
