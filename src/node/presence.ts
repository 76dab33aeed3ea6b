import { iso, type Clock } from '../kernel/time.ts';
import { rowId } from '../kernel/ids.ts';
import type { OperatorNode } from '../protocol/operator/node.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Journal, NewEntry, ProcessDetail } from '../stores/journal/contract.ts';
import type { RequestTimes } from '../stores/nodes/contract.ts';
import type { NodeList, NodeSettings, TopicWatch } from './nodes.ts';

/** How a process is doing at this moment. */
export type Vitals = Pick<
  OperatorNode,
  'loopP99Ms' | 'rss' | 'sockets' | 'historyWaiting' | 'eventsWaiting' | 'eventsDropped' | 'clockLeadMs'
>;

/** What is recorded about the run of one process, from its start to its stop. */
export interface ProcessRun extends ProcessDetail {
  /** The prefix of its request ids, which are `req_`, the prefix and a counter. */
  readonly prefix: string;
  readonly node: string;
  readonly startedAtMs: number;
}

export interface PresenceDeps {
  readonly run: ProcessRun;
  readonly pid: number;
  readonly settings: NodeSettings;
  readonly vitals: () => Vitals;
  /** How many request ids this process has issued. */
  readonly requests: () => number;
  /** The dependencies of this process, as it finds them. */
  readonly dependencies: { look(): Promise<unknown>; list(): OperatorNode['dependencies'] };
  readonly nodes: Pick<NodeList, 'hear'>;
  readonly journal: Pick<Journal, 'append'>;
  readonly requestTimes: Pick<RequestTimes, 'note'>;
  readonly bus: Pick<Bus, 'publish' | 'isConnected' | 'followed'>;
  readonly clock: Clock;
}

/** Tells the other nodes that this process is here, and records when it issued which request ids. */
export class Presence {
  readonly #deps: PresenceDeps;
  readonly #started: NewEntry<'process'>;
  #watched: TopicWatch | undefined;
  /** The text of what was last said about it. */
  #saidText: string | undefined;
  #isWritten = false;
  #written = 0;

  constructor(deps: PresenceDeps) {
    this.#deps = deps;
    this.#started = entryOf('started', deps.run.startedAtMs, deps.run);
  }

  /** Sets what operators watch here. It is announced at once when it changes, and with each beat; undefined while nobody watches. */
  watch(watched: TopicWatch | undefined): void {
    this.#watched = watched;
    const text = watched && JSON.stringify(watched);
    if (text === this.#saidText) return;
    // What could not be sent is tried again, because other nodes send nothing unless they know that it is watched.
    if (this.#sayWatched()) this.#saidText = text;
  }

  /** Checks what this process depends on, and tells everybody. Call it every five seconds. Never rejects. */
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

  /**
   * A separate message, because older builds read it. It is not sent while disconnected: a message that is lost counts as a gap, after which every
   * node looks for what it missed.
   */
  #sayWatched(): boolean {
    const { run, bus } = this.#deps;
    if (this.#watched === undefined) return true;
    if (bus.isConnected) bus.publish({ type: 'feed.watched', node: run.node, ...this.#watched });
    return bus.isConnected;
  }

  /** Records that this process runs, and how many request ids it has issued. @throws Unavailable; the next call then records the same */
  async write(): Promise<void> {
    const { run, journal, requestTimes, requests, clock } = this.#deps;
    if (!this.#isWritten) await journal.append([this.#started]);
    this.#isWritten = true;
    const given = requests();
    if (given === this.#written) return;
    await requestTimes.note(run.prefix, given, clock.now());
    this.#written = given;
  }

  /** Removes this process from everybody's list, and records its stop. @throws Unavailable when that cannot be recorded */
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
