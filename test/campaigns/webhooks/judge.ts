import type { Delivery } from '../support/hooks.ts';
import type { Received } from '../support/receiver.ts';

/** A fact in the database that webhooks may report. */
export interface Fact {
  readonly type: string;
  /** The same name as `Received.fact`. */
  readonly name: string;
}

/** One endpoint, the requests that its server got, and the deliveries that operators see. */
export interface ObservedEndpoint {
  readonly name: string;
  readonly types: readonly string[];
  readonly received: readonly Received[];
  readonly deliveries: readonly Delivery[];
}

/** Types that report each change of state. A session may have many, and no table records how many. */
export const STATES: ReadonlySet<string> = new Set(['session.idle', 'session.stale']);

/** Data of an event about a session, or about a call in it. */
export interface ToldOf {
  readonly ref: string;
  readonly callRef?: string | undefined;
  readonly sequence?: number;
}

/** The type and the session or call; for state changes also their sequence number. */
export function factNameOf(type: string, data: object): string {
  const { ref, callRef, sequence } = data as ToldOf;
  return `${type} ${callRef ?? ref}${STATES.has(type) ? ` ${sequence}` : ''}`;
}

/** What went wrong at an endpoint: facts that were lost, made up, reported under two ids, or shown to operators differently. */
export function faultsOf({ name, types, received, deliveries }: ObservedEndpoint, facts: readonly Fact[]): string[] {
  const faults: string[] = [];
  const say = (what: string): void => void faults.push(`${name}: ${what}`);
  for (const { type, webhookId, fault } of received) if (fault !== undefined) say(`${type} ${webhookId} ${fault}`);

  const events = new Map<string, string>();
  for (const { fact, webhookId } of received) {
    const first = events.get(fact);
    if (first === undefined) events.set(fact, webhookId);
    else if (first !== webhookId) say(`${fact} came as ${first} and as ${webhookId}`);
  }

  const wanted = new Set(facts.filter(({ type }) => types.includes(type)).map((fact) => fact.name));
  const taken = received.filter(({ status }) => status === 204);
  const told = new Set(taken.map(({ fact }) => fact));
  for (const fact of wanted) if (!told.has(fact)) say(`${fact} was not told`);
  for (const { fact, type } of received) {
    if (!types.includes(type)) say(`${fact} was told, and is not wanted`);
    else if (!STATES.has(type) && !wanted.has(fact)) say(`${fact} was told, and did not happen`);
  }

  const shown = new Map(deliveries.map(({ event, state }) => [event, state]));
  const takenEvents = new Set(taken.map(({ webhookId }) => webhookId));
  for (const [event, state] of shown) {
    if (state !== 'delivered') say(`${event} is ${state}`);
    if (state === 'delivered' && !takenEvents.has(event)) say(`${event} is shown as delivered, and did not come`);
  }
  for (const event of takenEvents) if (!shown.has(event)) say(`${event} came, and is shown nowhere`);
  return faults;
}

/** How often a server that does not answer may be probed within this time after it began to fail. */
export function probesWithin(ms: number): number {
  let probes = 0;
  for (let atMs = 10_000; atMs <= ms; atMs += Math.min(600_000, 10_000 * 2 ** probes)) probes += 1;
  return probes;
}
