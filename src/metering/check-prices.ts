import { transcriptionOf } from '../protocol/behaviour.ts';
import type { Config } from '../../config/config.ts';
import { DAY_MS } from '../kernel/time.ts';
import { DEFAULT_MODEL } from '../tenants/agents.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';
import type { Agent, Tenant } from '../stores/tenants/contract.ts';
import type { Prices } from './prices.ts';

const NOTICE_DAYS = 60;

/**
 * In production, each agent whose calls are metered here must have a price for its model, its own or the list's. Development prices a model that no
 * list has at the highest rates.
 * @throws TenantsFileError that names the agents and what to do
 */
export function requirePrices(
  tenants: readonly Tenant[],
  file: string,
  prices: Prices,
  { mode, calls }: Pick<Config, 'mode' | 'calls'>,
): void {
  if (mode !== 'production') return;
  const problems = tenants.flatMap(({ id, agents, keys }) =>
    agents
      .filter((agent) => isMetered(agent, keys, calls.mode))
      .flatMap((agent) =>
        unpricedOf(agent, prices).map((message) => ({ path: `tenant ${id}, agent ${agent.id}`, message })),
      ),
  );
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

const METERED = 'which has no price, and its calls are metered here (CALL_MODE, or the call of the agent or a key)';

/** An agent's own price is for its model only: the model that transcribes its visitors needs its own. */
function unpricedOf(agent: Agent, prices: Prices): string[] {
  const transcriber = transcriptionOf(agent)?.model;
  const isPriced = agent.price !== undefined || prices.find(modelOf(agent)) !== undefined;
  return [
    ...(isPriced
      ? []
      : [`has the model "${modelOf(agent)}", ${METERED}. Give the agent a "price", or list the model in PRICES_FILE`]),
    ...(transcriber === undefined || prices.find(transcriber) !== undefined
      ? []
      : [`transcribes with "${transcriber}", ${METERED}. List the model in PRICES_FILE`]),
  ];
}

/** Models in use that their provider switches off within 60 days, or already has: one line each. */
export function findShutdowns(tenants: readonly Tenant[], prices: Prices, atMs: number): string[] {
  const users = new Map<string, string[]>([[DEFAULT_MODEL, []]]);
  for (const { id, agents } of tenants)
    for (const agent of agents) users.set(modelOf(agent), [...(users.get(modelOf(agent)) ?? []), `${id}/${agent.id}`]);
  return [...users].flatMap(([model, agents]) => {
    const shutdown = prices.find(model)?.shutdown;
    if (shutdown === undefined || Date.parse(shutdown) - atMs > NOTICE_DAYS * DAY_MS) return [];
    const names = agents.length === 0 ? 'the default' : agents.join(', ');
    return [`the model ${model} (${names}) is switched off by its provider on ${shutdown}; give these agents another`];
  });
}

/** Whether sessions of the agent may be brokered: a key's setting wins over the agent's, and that over the installation's. */
function isMetered({ call }: Agent, keys: Tenant['keys'], mode: Config['calls']['mode']): boolean {
  return (call ?? mode) === 'brokered' || keys.some((key) => key.call === 'brokered');
}

function modelOf({ model = DEFAULT_MODEL }: Agent): string {
  return model;
}
