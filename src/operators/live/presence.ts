import { iso } from '../../kernel/time.ts';
import type { Clock } from '../../kernel/clock.ts';
import { rowId } from '../../kernel/ids.ts';
import type { OperatorNode } from '../../protocol/operator/node.ts';
import type { Bus } from '../../stores/bus/contract.ts';
import type { Journal, NewEntry, ProcessDetail } from '../../stores/journal/contract.ts';
import type { RequestTimes } from '../../stores/request-times/contract.ts';
import type { SettingHashes } from './config-hash.ts';
import type { Dependencies } from './dependencies.ts';
import type { NodeList } from './nodes.ts';

/** How a process is at this moment. */
export type Vitals = Pick<
  OperatorNode,
  'loopP99Ms' | 'rss' | 'sockets' | 'historyWaiting' | 'eventsWaiting' | 'eventsDropped' | 'clockLeadMs'
>;

/** What is written down of the run of one process, from its start to its stop. */
export interface ProcessRun extends ProcessDetail {
  /** Of its request ids: `req_`, the prefix, a counter. */
  readonly prefix: string;
  readonly node: string;
  readonly startedAtMs: number;
}

export interface PresenceDeps {
  readonly run: ProcessRun;
  readonly pid: number;
  readonly settings: SettingHashes;
  readonly vitals: () => Vitals;
  /** How many request ids this process has given. */
  readonly requests: () => number;
  readonly dependencies: Dependencies;
  readonly nodes: NodeList;
  readonly journal: Pick<Journal, 'append'>;
  readonly requestTimes: Pick<RequestTimes, 'note'>;
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'isConnected'>;
  readonly clock: Clock;
}

/** Tells the others that this process is here, and writes down which request ids it gave when. */
export class Presence {
  readonly #deps: PresenceDeps;
  readonly #stopListening: () => void;
  readonly #started: NewEntry<'process'>;
  #isWritten = false;
  #written = 0;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    this.#started = entryOf('started', deps.run.startedAtMs, deps.run);
    this.#stopListening = deps.bus.subscribe((message) => {
      if (message.type === 'node.here') deps.nodes.hear(message.node, message.settings);
      if (message.type === 'node.gone') deps.nodes.forget(message.id);
    });
  }

  /** Looks at what this process stands on, and tells everybody. Never rejects. */
  async beat(): Promise<void> {
    const { run, pid, settings, vitals, dependencies, nodes, bus, clock } = this.#deps;
    await dependencies.look();
    const node: OperatorNode = {
      id: run.node,
      host: run.host,
      pid,
      version: run.version,
      startedAt: iso(run.startedAtMs),
      seenAt: iso(clock.now()),
      ...vitals(),
      configHash: run.configHash,
      dependencies: dependencies.list(),
    };
    // What cannot get out would be counted as a gap, after which every node looks for what it missed.
    if (bus.isConnected) bus.publish({ type: 'node.here', node, settings });
    else nodes.hear(node, settings);
  }

  /** Writes down that this process runs, and how many request ids it has given. @throws Unavailable; then the next time tells as much */
  async write(): Promise<void> {
    const { run, journal, requestTimes, requests, clock } = this.#deps;
    if (!this.#isWritten) await journal.append([this.#started]);
    this.#isWritten = true;
    const given = requests();
    if (given === this.#written) return;
    await requestTimes.note(run.prefix, given, clock.now());
    this.#written = given;
  }

  /** Takes this process from the lists of all. @throws Unavailable when that cannot be written down */
  async leave(): Promise<void> {
    const { run, journal, bus, clock } = this.#deps;
    this.#stopListening();
    if (bus.isConnected) bus.publish({ type: 'node.gone', id: run.node });
    await this.write();
    await journal.append([entryOf('stopped', clock.now(), run)]);
  }
}

function entryOf(code: 'started' | 'stopped', atMs: number, run: ProcessRun): NewEntry<'process'> {
  const { prefix, node, host, version, configHash, shard } = run;
  const detail = { host, version, configHash, shard };
  return { id: rowId(), kind: 'process', atMs, node, requestId: null, of: { target: prefix }, code, detail };
}
