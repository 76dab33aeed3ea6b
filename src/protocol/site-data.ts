import type { OperatorMachine } from './operator/machine.ts';

/** What the demo page says about the provider. */
interface DemoProvider {
  readonly name: string;
  readonly simulated: boolean;
  /** How the provider takes calls: opened by Switchboard, opened by the page, or not at all. */
  readonly call: 'brokered' | 'token' | 'none';
  /** What meters a call that Switchboard opens. */
  readonly meter: 'events' | 'clock' | 'report-after' | 'none';
}

/** What the demo page needs before it can start: the reply of /demo/config.json. */
export interface DemoConfig {
  /** Null if there is no demo key (as in production): then the page's address names a key. */
  readonly widgetKey: string | null;
  readonly tenantId: string | null;
  readonly agentId: string | null;
  /** The only origin from which the key works. */
  readonly keyOrigin: string | null;
  readonly provider: DemoProvider;
}

/** What the page "Take this page over" needs: the reply of /demo/take-over.json, about the key of that page. */
export interface TakeOverConfig extends DemoConfig {
  /** Whether pages with the key have no data channel to the provider. */
  readonly isLocked: boolean;
  /** What one visitor, and all visitors together, may cost in a day; null if the key sets no such limit. */
  readonly dailyDollars: number | null;
  readonly dailyDollarsOfAll: number | null;
  /** How long the calls of one session may last in total; null if no budget of the key limits it. */
  readonly sessionMinutes: number | null;
}

/** A machine as the build has drawn it, with this installation's words. */
export type DrawnMachine = Pick<OperatorMachine, 'charts' | 'words'>;

/** What the demo page draws: the reply of /demo/machines.json. */
export interface DemoMachines {
  readonly session: DrawnMachine;
  readonly call: DrawnMachine;
}

/** What the search in /docs knows about one part of a page: an entry of `/docs/search.json`. */
export interface DocsPart {
  /** The address of the part: `/docs/widget#events`. */
  readonly path: string;
  /** The title of the page that it is in. */
  readonly page: string;
  readonly title: string;
  /** The beginning of its text. */
  readonly excerpt: string;
  /** Each word of its text once, in lower case, separated by spaces. */
  readonly words: string;
}
