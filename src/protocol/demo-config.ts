import type { OperatorMachine } from './operator/machine.ts';

/** What the page says of the provider. */
interface DemoProvider {
  readonly name: string;
  readonly simulated: boolean;
  /** Whether it answers calls: opened by Switchboard, opened by the page, or not at all. */
  readonly call: 'brokered' | 'token' | 'none';
  /** Who tells what a call costs, where Switchboard opens it. */
  readonly meter: 'events' | 'clock' | 'report-after' | 'none';
}

/** What the demo page must know before it can start: the reply of /demo/config.json. */
export interface DemoConfig {
  /** Null where no demo key is left (production): then the page's address names one. */
  readonly widgetKey: string | null;
  readonly tenantId: string | null;
  readonly agentId: string | null;
  /** The only origin from which the key works. */
  readonly keyOrigin: string | null;
  readonly provider: DemoProvider;
}

/** What the page "Take this page over" must know: the reply of /demo/take-over.json, for the key of that page. */
export interface TakeOverConfig extends DemoConfig {
  /** Whether pages with the key have no data channel to the provider. */
  readonly isLocked: boolean;
  /** What one visitor, and all of them together, may cost in a day; null where the key sets no such limit. */
  readonly dailyDollars: number | null;
  readonly dailyDollarsOfAll: number | null;
  /** How long the calls of one session may last together; null where no budget of the key says so. */
  readonly sessionMinutes: number | null;
}

/** A machine as the build has drawn it, with the words of this installation. */
export type DrawnMachine = Pick<OperatorMachine, 'charts' | 'words'>;

/** What the demo page draws: the reply of /demo/machines.json. */
export interface DemoMachines {
  readonly session: DrawnMachine;
  readonly call: DrawnMachine;
}
