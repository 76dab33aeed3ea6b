import { savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { TracedEvent } from '../actors/trace.ts';
import { refOf } from '../kernel/ids.ts';
import { iso } from '../kernel/time.ts';
import { deadlineOf } from '../operators/sessions/view.ts';
import { toWholeAuditRow, viewOfEvent, viewOfRefusal } from '../operators/journal/view.ts';
import type { HostedRecords } from '../operators/journal/events.ts';
import type { NewEntry } from '../stores/journal/contract.ts';
import type { FeedFact, RefusedCount } from '../protocol/operator/feed.ts';
import type { OperatorRefusal } from '../protocol/operator/refusal.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import type { Bus } from '../stores/bus/contract.ts';

/** Facts that a node sends the others at once. */
const MAX_FACTS = 200;

interface FeedPeersDeps {
  readonly node: string;
  readonly bus: Pick<Bus, 'publish'>;
}

/** Collects the facts for the other nodes until they are published. */
export class FeedPeers {
  readonly #deps: FeedPeersDeps;
  #facts: FeedFact[] = [];
  #more = 0;

  constructor(deps: FeedPeersDeps) {
    this.#deps = deps;
  }

  /** Facts without room are counted, and the other nodes report a gap. */
  tell(fact: FeedFact): void {
    if (this.#facts.length < MAX_FACTS) this.#facts.push(fact);
    else this.#more += 1;
  }

  publish(): void {
    if (this.#facts.length === 0 && this.#more === 0) return;
    const { bus, node } = this.#deps;
    bus.publish({ type: 'feed.told', node, facts: this.#facts, more: this.#more });
    this.#facts = [];
    this.#more = 0;
  }
}

/** Refusals that are told in full at once. */
const MAX_SAMPLES = 20;
/** Combinations of code and key that are counted separately; further ones are counted without tenant and key. */
const MAX_COUNTS = 1000;

/** Collects the refusals of this node while somebody watches: all of them are counted, and some are told in full. */
export class RefusalFacts {
  readonly #isWanted: () => boolean;
  #counts = new Map<string, RefusedCount>();
  #samples: OperatorRefusal[] = [];

  constructor(isWanted: () => boolean) {
    this.#isWanted = isWanted;
  }

  readonly count = (code: string, { tenantId = null, keyId = null }: Pick<Why, 'tenantId' | 'keyId'>): void => {
    if (!this.#isWanted()) return;
    const whole = `${code}\n${tenantId ?? ''}\n${keyId ?? ''}`;
    const isNobodys = this.#counts.size >= MAX_COUNTS && !this.#counts.has(whole);
    const name = isNobodys ? `${code}\n\n` : whole;
    const one = isNobodys ? { code, tenantId: null, keyId: null } : { code, tenantId, keyId };
    this.#counts.set(name, { ...one, n: (this.#counts.get(name)?.n ?? 0) + 1 });
  };

  readonly sample = (refusal: NewEntry<'refusal'>): void => {
    // All watchers are sent this, so it shows only what the least privileged may see.
    if (this.#samples.length < MAX_SAMPLES && this.#isWanted())
      this.#samples.push({ ...viewOfRefusal(refusal, []), node: refusal.node });
  };

  /** Takes what was collected since the last call. */
  take(): FeedFact | undefined {
    if (this.#counts.size === 0) return undefined;
    const fact: FeedFact = { kind: 'refusals', counts: [...this.#counts.values()], samples: this.#samples };
    this.#counts = new Map();
    this.#samples = [];
    return fact;
  }
}

/** What facts are told to: the feed. */
interface FactListener {
  readonly isWatched: boolean;
  isFollowed(ref: string): boolean;
  tell(fact: FeedFact): void;
}

/** Tells the feed about voice sessions: their changes of state, and to watchers who follow a session each of its events. */
export function tellSessions(
  feed: FactListener,
  limits: VoiceLimits,
): (traced: TracedEvent<HostedRecords>, entry: NewEntry<'transition'> | undefined) => void {
  return (traced, entry) => {
    if (!feed.isWatched || traced.machine !== 'voice-session') return;
    const record = traced.record as VoiceRecord;
    const before = traced.before as VoiceRecord | undefined;
    const ref = refOf(record.id);
    const state = savedState(record, limits);
    const was = before === undefined ? null : savedState(before, limits);
    if (state !== was) {
      const { endReason: reason, tenantId, agentId, keyId, caller } = record;
      const next = deadlineOf(record, limits);
      const at = iso(traced.atMs);
      feed.tell({
        kind: 'session',
        change: { ref, state, was, reason, at, tenantId, agentId, keyId, caller, deadline: next?.at ?? null, next },
      });
    }
    if (entry === undefined || !feed.isFollowed(ref)) return;
    // The event has no number before it is written to the journal.
    const event = viewOfEvent(entry, `v${record.version}`);
    feed.tell({ kind: 'event', ref, tenantId: record.tenantId, event });
  };
}

/** Tells watchers who follow a session about its notes. */
export function tellNotes(feed: FactListener): (note: NewEntry<'note'>, tenantId: string | null) => void {
  let told = 0;
  return (note, tenantId) => {
    const { atMs, of } = note;
    const ref = of.target ?? '';
    // The tenant decides who may see it.
    if (tenantId === null || !feed.isWatched || !feed.isFollowed(ref)) return;
    told += 1;
    feed.tell({ kind: 'event', ref, tenantId, event: viewOfEvent(note, `n${atMs}-${told}`) });
  };
}

/** Tells the feed what operators did, and the results. */
export function tellActs(
  feed: Pick<FactListener, 'isWatched' | 'tell'>,
): (entry: NewEntry<'act'>, result: string, count: number | undefined) => void {
  return (entry, result, count) => {
    if (feed.isWatched) feed.tell({ kind: 'audit', row: { ...toWholeAuditRow(entry), result, count: count ?? null } });
  };
}
