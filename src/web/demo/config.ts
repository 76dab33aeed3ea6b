import type { DemoConfig, DemoMachines, TakeOverConfig } from '../../protocol/site-data.ts';
import { element, say } from './elements.ts';

/** Reads JSON from the server. @throws Error if the server does not answer */
async function read<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return (await response.json()) as T;
}

/** The machines as the build has drawn them, with the limits of this installation. @throws Error if the server does not answer */
export function readMachines(): Promise<DemoMachines> {
  return read('/demo/machines.json');
}

/** What the page "Take this page over" needs. @throws Error if the server does not answer */
export function readTakeOver(): Promise<TakeOverConfig> {
  return read('/demo/take-over.json');
}

/**
 * Reads /demo/config.json. The page's own address may replace parts of it: `/demo?widgetKey=w_…&tenantId=…&agentId=…` shows a key of your own.
 * @throws Error if the server does not answer
 */
export async function readConfig(): Promise<DemoConfig> {
  const config = await read<DemoConfig>('/demo/config.json');
  const given = new URLSearchParams(location.search);
  const widgetKey = given.get('widgetKey');
  if (widgetKey === null) return config;
  const { provider } = config;
  return { widgetKey, tenantId: given.get('tenantId'), agentId: given.get('agentId'), keyOrigin: null, provider };
}

type Answerer = 'provider' | 'echo' | 'nobody';

/** Who answers calls on this page: a provider, the echo agent (only for browsers on the server's own machine), or nobody. */
function answererOf({ provider }: DemoConfig): Answerer {
  if (!provider.simulated) return 'provider';
  const isNear = ['localhost', '127.0.0.1'].includes(location.hostname);
  return provider.call === 'brokered' && isNear ? 'echo' : 'nobody';
}

/** Shows who answers. @returns the same */
export function showMode(config: DemoConfig, words: Readonly<Record<Exclude<Answerer, 'provider'>, string>>): Answerer {
  const answerer = answererOf(config);
  const mode = element('mode', HTMLElement);
  say(mode, answerer === 'provider' ? `Live: ${config.provider.name}` : words[answerer]);
  mode.dataset['mode'] = config.provider.simulated ? 'simulated' : 'live';
  return answerer;
}

/** An address for a visitor of this page, which nobody else has. */
export function madeUpAddress(who: string): string {
  return `${who}-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}@demo.example`;
}

/** Why the page cannot start, worded for the person who set it up; empty if it can. */
export function obstacle({ widgetKey, keyOrigin }: DemoConfig): string {
  if (widgetKey === null)
    return 'This server has no demo key. Open the page with a key that is bound to its origin: /demo?widgetKey=w_…';
  if (keyOrigin !== null && keyOrigin !== location.origin)
    return `The demo key works only from ${keyOrigin}: open ${keyOrigin}/demo.`;
  return '';
}
