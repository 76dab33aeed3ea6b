import { actorSeenBy, eventSeenBy, nodeSeenBy, type Operator, seesTenant } from '../operators/roles.ts';
import { parseJson } from '../kernel/post.ts';
import type { Socket, SocketListener } from '../kernel/socket.ts';
import { iso, MINUTE_MS } from '../kernel/time.ts';
import {
  FEED_TOPICS,
  feedCloseCode,
  type FeedFact,
  type FeedFilter,
  type FeedFrame,
  type FeedTopic,
  type SessionChange,
  type UnnumberedFrame,
  watchFrame,
} from '../protocol/operator/feed.ts';
import type { OperatorRefusal } from '../protocol/operator/refusal.ts';
import { groupOf } from './ticks.ts';

/** Refusals in one frame at most, and the interval between such frames. */
const MAX_SAMPLES = 20;
const SEND_MS = 1000;

type RefusalsFact = Extract<FeedFact, { kind: 'refusals' }>;
type Frame = Omit<Extract<FeedFrame, { type: 'refusals' }>, 'seq'>;

/** Refusals for a watcher: collected for a second, counted by code, and some of them in full. */
class RefusalDigest {
  #byCode = new Map<string, number>();
  #samples: OperatorRefusal[] = [];
  #takenAtMs = -Infinity;

  /** @param isShown whether the watcher sees what belongs to a tenant and a key */
  add({ counts, samples }: RefusalsFact, isShown: (tenantId: string | null, keyId: string | null) => boolean): void {
    for (const { code, tenantId, keyId, n } of counts)
      if (isShown(tenantId, keyId)) this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + n);
    for (const sample of samples)
      if (this.#samples.length < MAX_SAMPLES && isShown(sample.tenantId, sample.keyId)) this.#samples.push(sample);
  }

  clear(): void {
    this.#byCode.clear();
    this.#samples = [];
  }

  /** The frame, if it is due and there is anything to tell. */
  take(atMs: number): Frame | undefined {
    if (this.#byCode.size === 0 || Math.abs(atMs - this.#takenAtMs) < SEND_MS) return undefined;
    this.#takenAtMs = atMs;
    const all = [...this.#byCode.values()].reduce((sum, n) => sum + n, 0);
    const byCode = Object.fromEntries(this.#byCode);
    const samples = this.#samples;
    this.clear();
    return { type: 'refusals', byCode, samples, more: Math.max(0, all - samples.length) };
  }
}

/** Changes in one frame at most. */
const MAX_CHANGES = 100;
/** Changes that may wait for the next frame. */
const MAX_WAITING = 1000;
/** Frames that a watcher may send per minute. */
const MAX_FRAMES = 60;

interface WatcherDeps {
  readonly node: string;
  /** Whether this node is cut off from the others. */
  readonly isLossy: () => boolean;
  readonly now: () => number;
  /** Called when the watcher is identified, or changes what it watches. */
  readonly onWatch: () => void;
  /** The watcher is gone. */
  readonly onClosed: (watcher: Watcher) => void;
}

/**
 * One socket of the operators' feed. It collects what happens and sends it a few times a second: only the last state of a session is sent,
 * and what has no room is counted. Nothing is sent before the watcher is identified.
 */
export class Watcher implements SocketListener {
  readonly #socket: Socket;
  readonly #deps: WatcherDeps;
  #operator: Operator | undefined;
  #topics: ReadonlySet<FeedTopic> = new Set();
  #filter: FeedFilter = {};
  #ref: string | undefined;
  #changes = new Map<string, SessionChange>();
  #more = 0;
  readonly #refusals = new RefusalDigest();
  #seq = 0;
  /** Frames that were dropped because the socket does not read. */
  #dropped = 0;
  #minute = 0;
  #frames = 0;
  #isOver = false;

  constructor(socket: Socket, deps: WatcherDeps) {
    this.#socket = socket;
    this.#deps = deps;
  }

  /** The operator who watches; undefined until identified. */
  get operator(): Operator | undefined {
    return this.#operator;
  }

  /** The session whose events the watcher follows. */
  get ref(): string | undefined {
    return this.#ref;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get topics(): ReadonlySet<FeedTopic> {
    return this.#topics;
  }

  wants(topic: FeedTopic): boolean {
    return this.#topics.has(topic);
  }

  /** Called when the operator is identified, for the first time or again. */
  admit(operator: Operator): void {
    const before = this.#operator;
    this.#operator = operator;
    if (this.#isOver) return;
    if (before !== undefined) {
      if (groupOf(before) === groupOf(operator)) return;
      // What was collected may include more than the operator may see now.
      this.#forget();
      return this.tellGap();
    }
    const { node, isLossy, now } = this.#deps;
    const at = iso(now());
    this.send({ type: 'hello', at, node: nodeSeenBy(operator, node), role: operator.role, lossy: isLossy() });
    this.#deps.onWatch();
  }

  message(text: string): void {
    if (this.#isOver) return;
    const minute = Math.floor(this.#deps.now() / MINUTE_MS);
    if (minute !== this.#minute) [this.#minute, this.#frames] = [minute, 0];
    this.#frames += 1;
    if (this.#frames > MAX_FRAMES) return this.close(feedCloseCode.tooMany, 'too many frames');
    const frame = watchFrame.safeParse(parseJson(text)).data;
    if (frame === undefined) return this.close(feedCloseCode.badFrames, 'not a watch frame');
    this.#topics = new Set(FEED_TOPICS.filter((topic) => frame.topics.includes(topic)));
    this.#filter = frame.filter ?? {};
    this.#ref = frame.ref ?? undefined;
    this.#forget();
    if (this.#operator !== undefined) this.#deps.onWatch();
  }

  binary(): void {
    this.close(feedCloseCode.badFrames, 'not a text');
  }

  ping(): void {
    // The pong is sent already.
  }

  closed(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forget();
    this.#deps.onClosed(this);
  }

  /** Closes the socket once; later calls change nothing. */
  close(code: number, reason: string): void {
    if (this.#isOver) return;
    this.closed();
    this.#socket.close(code, reason);
  }

  /** Takes in what happened on any node, if it concerns this watcher. Kinds that only a newer node knows are ignored. */
  tell(fact: FeedFact): void {
    const operator = this.#operator;
    if (operator === undefined || this.#isOver) return;
    if (fact.kind === 'session') this.#gather(fact.change, operator);
    if (fact.kind === 'audit') {
      const { row } = fact;
      if (this.wants('audit') && seesTenant(operator, row.tenantId))
        this.send({ type: 'audit', row: { ...row, actor: actorSeenBy(operator, row.actor) } });
    }
    if (fact.kind === 'event') {
      const { ref, tenantId, event } = fact;
      if (this.#ref?.startsWith(ref) === true && seesTenant(operator, tenantId))
        this.send({ type: 'event', ref, event: eventSeenBy(operator, event) });
    }
    if (fact.kind === 'refusals' && this.wants('refusals')) {
      const samples = fact.samples.map((sample) => withNodeFor(operator, sample));
      const { tenantId: tenant, keyId: key } = this.#filter;
      this.#refusals.add(
        { ...fact, samples },
        (tenantId, keyId) =>
          seesTenant(operator, tenantId) && (tenant ?? tenantId) === tenantId && (key ?? keyId) === keyId,
      );
    }
  }

  #gather(change: SessionChange, operator: Operator): void {
    if (!this.wants('sessions') || !seesTenant(operator, change.tenantId) || !concerns(this.#filter, change)) return;
    const earlier = this.#changes.get(change.ref);
    if (earlier === undefined && this.#changes.size >= MAX_WAITING) this.#more += 1;
    else this.#changes.set(change.ref, earlier === undefined ? change : { ...change, was: earlier.was });
  }

  #forget(): void {
    this.#changes.clear();
    this.#more = 0;
    this.#refusals.clear();
  }

  /** Sends what was collected. */
  flush(): void {
    const refused = this.#refusals.take(this.#deps.now());
    if (refused !== undefined) this.send(refused);
    if (this.#changes.size === 0 && this.#more === 0) return;
    const all = [...this.#changes.values()];
    const changes = all.slice(0, MAX_CHANGES);
    const more = this.#more + all.length - changes.length;
    this.#changes.clear();
    this.#more = 0;
    this.send({ type: 'sessions', changes, more });
  }

  /** Something may have been missed. */
  tellGap(): void {
    this.send({ type: 'gap', dropped: null });
  }

  /** Numbers and sends a frame. A frame that a socket does not take is reported as a gap; if the gap is not taken either, the socket is closed. */
  send(frame: UnnumberedFrame): void {
    if (this.#isOver || this.#operator === undefined) return;
    if (this.#dropped > 0) {
      if (!this.#write({ type: 'gap', dropped: this.#dropped })) {
        this.close(feedCloseCode.overloaded, 'the socket does not read');
        return;
      }
      this.#dropped = 0;
    }
    if (!this.#write(frame)) this.#dropped = 1;
  }

  #write(frame: UnnumberedFrame): boolean {
    const { type, ...fields } = frame;
    const isTaken = this.#socket.send(JSON.stringify({ type, seq: this.#seq, ...fields })) !== 'dropped';
    this.#seq += 1;
    return isTaken;
  }
}

/** Facts sent to all watchers name their process, which some operators must not see. */
function withNodeFor<T extends { readonly node: string | null }>(operator: Operator, told: T): T {
  return { ...told, node: told.node === null ? null : nodeSeenBy(operator, told.node) };
}

/** A session's former state matches as well, because a list must hear of sessions that leave it. */
function concerns({ state, tenantId, agentId, keyId, caller, reason }: FeedFilter, change: SessionChange): boolean {
  return (
    (state === undefined || state.some((one) => one === change.state || one === change.was)) &&
    (tenantId === undefined || tenantId === change.tenantId) &&
    (agentId === undefined || agentId === change.agentId) &&
    (keyId === undefined || keyId === change.keyId) &&
    (caller === undefined || caller === change.caller) &&
    (reason === undefined || reason.some((one) => one === change.reason))
  );
}
