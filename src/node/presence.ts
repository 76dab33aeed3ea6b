import { iso } from '../kernel/time.ts';
import type { Clock } from '../kernel/clock.ts';
import { rowId } from '../kernel/ids.ts';
import type { OperatorNode } from '../protocol/operator/node.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Journal, NewEntry, ProcessDetail } from '../stores/journal/contract.ts';
import type { RequestTimes } from '../stores/request-times/contract.ts';
import type { NodeList, NodeSettings, TopicWatch } from './nodes.ts';

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
  readonly settings: NodeSettings;
  readonly vitals: () => Vitals;
  /** How many request ids this process has given. */
  readonly requests: () => number;
  /** What this process finds of what it stands on. */
  readonly dependencies: { look(): Promise<unknown>; list(): OperatorNode['dependencies'] };
  readonly nodes: Pick<NodeList, 'hear'>;
  readonly journal: Pick<Journal, 'append'>;
  readonly requestTimes: Pick<RequestTimes, 'note'>;
  readonly bus: Pick<Bus, 'publish' | 'isConnected' | 'followed'>;
  readonly clock: Clock;
}

/** Tells the others that this process is here, and writes down which request ids it gave when. */
export class Presence {
  readonly #deps: PresenceDeps;
  readonly #started: NewEntry<'process'>;
  #watched: TopicWatch | undefined;
  /** The text of what was said of it last. */
  #saidText: string | undefined;
  #isWritten = false;
  #written = 0;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    this.#started = entryOf('started', deps.run.startedAtMs, deps.run);
  }

  /** What operators watch here: told at once when it changed, and with each beat; undefined while nobody watches. */
  watch(watched: TopicWatch | undefined): void {
    this.#watched = watched;
    const text = watched && JSON.stringify(watched);
    if (text === this.#saidText) return;
    // What could not get out is tried again, because others tell nothing of what they do not know to be watched.
    if (this.#sayWatched()) this.#saidText = text;
  }

  /** Looks at what this process stands on, and tells everybody. Call it every five seconds. Never rejects. */
  async beat(): Promise<void> {
    this.#sayWatched();
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
    const followsSessions = bus.followed?.isDirected === true;
    if (bus.isConnected) bus.publish({ type: 'node.here', node, settings, followsSessions });
    else nodes.hear(node, settings);
  }

  /** A message of its own, because older builds read it. What cannot get out would be counted as a gap, so that every node looked for more. */
  #sayWatched(): boolean {
    const { run, bus } = this.#deps;
    if (this.#watched === undefined) return true;
    if (bus.isConnected) bus.publish({ type: 'feed.watched', node: run.node, ...this.#watched });
    return bus.isConnected;
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
