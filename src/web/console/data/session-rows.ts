import { batch, signal } from '@preact/signals';
import type { FeedFrame, SessionChange } from '../../../protocol/operator/feed.ts';
import { get, isPassing, type Answer, type Failure, type ReadMore } from './api.ts';
import { askedFilter, type Filter } from './filter.ts';
import { isPaused, noteHeard, waiting } from './live.ts';
import { createKept } from './places.ts';
import { differ, RowStore } from './row-store.ts';
import { noteServerTime, now } from './server-time.ts';
import type { Session, SessionPage } from './shapes.ts';
import { SECOND_MS } from './durations.ts';

const PAGE = 50;
const MAX_PAGE = 200;
/** Rows that left the filter are read one by one, at most this many at a time. */
const MAX_LOOKED_UP = 5;

/** The list of sessions. Its rows change as soon as the feed reports it; while the page is paused, changes are only counted. */
export class SessionRows extends RowStore<Session> {
  readonly nextCursor = signal<string | null>(null);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly isLoaded = signal(false);
  /** The row that has the keyboard focus. */
  readonly current = signal<string | undefined>(undefined);
  readonly selected = signal<ReadonlySet<string>>(new Set());
  readonly #filter: Filter;
  /** What the feed reported about rows, until a reading agrees. */
  readonly #told = new Map<string, HeardChange>();
  /** Rows that differed in a reading while paused, and what the feed reported about rows meanwhile. */
  #differing = new Set<string>();
  #held = new Map<string, SessionChange>();

  constructor(filter: Filter) {
    super(({ ref }) => ref);
    this.#filter = filter;
  }

  /** Reads the first page, and shows only that. @returns whether the service answered */
  async load(): Promise<boolean> {
    const page = await this.#readFirst(PAGE);
    if (page === undefined) return !this.#isAway();
    batch(() => {
      this.#told.clear();
      this.reset(page.sessions);
      this.nextCursor.value = page.nextCursor;
      this.isLoaded.value = true;
      this.#count();
    });
    return true;
  }

  /** Applies a frame of the feed. @returns whether the list must be read again to show it */
  take(frame: FeedFrame): boolean {
    if (frame.type !== 'sessions' || !this.isLoaded.peek()) return false;
    const untold = frame.changes.map((change) => isUntold(this.#filter, change, this.#isShown(change)));
    batch(() => {
      for (const change of frame.changes) {
        if (isPaused.peek() && this.#isShown(change)) this.#held.set(change.ref, change);
        else this.#applyChange(change);
      }
      this.#count();
    });
    return frame.more > 0 || untold.includes(true);
  }

  /** Reads the newest rows again, and changes rows in place. @returns whether the service answered */
  async refresh(): Promise<boolean> {
    if (!this.isLoaded.peek()) return this.load();
    const page = await this.#readFirst(Math.min(MAX_PAGE, this.shown.peek().length + PAGE));
    if (page === undefined) return !this.#isAway();
    const found = new Set(page.sessions.map(({ ref }) => ref));
    const shown = page.sessions.filter((session) => this.#isShown(session));
    batch(() => {
      this.wait(this.#newAmong(page));
      if (isPaused.peek())
        this.#differing = new Set(shown.filter((session) => this.#differs(session)).map(({ ref }) => ref));
      else {
        for (const change of this.#held.values()) this.#applyChange(change);
        for (const session of shown) this.#update(session);
      }
      this.#count();
    });
    if (!isPaused.peek()) await this.#lookUpPast(this.#missingFrom(page, found));
    return true;
  }

  override showFresh(): void {
    super.showFresh();
    this.#count();
  }

  /** Reads the next page below. */
  readonly more: ReadMore = async () => {
    const cursor = this.nextCursor.peek();
    if (cursor === null) return undefined;
    const answer = await this.#read(PAGE, cursor);
    if (!answer.ok) return answer.failure;
    batch(() => {
      this.append(answer.body.sessions);
      this.nextCursor.value = answer.body.nextCursor;
    });
    return undefined;
  };

  async #readFirst(limit: number): Promise<SessionPage | undefined> {
    const answer = await this.#read(limit);
    this.failure.value = answer.ok ? undefined : answer.failure;
    return answer.ok ? answer.body : undefined;
  }

  async #read(limit: number, cursor?: string): Promise<Answer<SessionPage>> {
    const asked = askedFilter(this.#filter, now.peek());
    asked.set('limit', String(limit));
    if (cursor !== undefined) asked.set('cursor', cursor);
    const answer = await get<SessionPage>(`/api/operator/sessions?${asked}`);
    if (!answer.ok) return answer;
    noteHeard();
    const live = answer.body.sessions.find(({ state }) => state !== 'ended')?.session;
    if (live !== undefined) noteServerTime(Date.parse(live.startedAt) + (live.durationSec + 0.5) * 1000, true);
    return { ...answer, body: { ...answer.body, sessions: answer.body.sessions.map(withoutId) } };
  }

  /** Sessions that are not shown yet, without those below the last row shown, which belong to a page that is not loaded. */
  #newAmong(page: SessionPage): readonly Session[] {
    return page.sessions
      .slice(0, MAX_PAGE)
      .filter((session) => !this.#isShown(session) && !this.#isBelow(session.ref, page));
  }

  /** Whether a session is in the page only because the page reaches further down than the list. */
  #isBelow(ref: string, page: SessionPage): boolean {
    const refs = page.sessions.map((session) => session.ref);
    const lastShown = page.sessions.findLastIndex((session) => this.#isShown(session));
    return this.nextCursor.peek() !== null && refs.indexOf(ref) > lastShown && lastShown >= 0;
  }

  #missingFrom(page: SessionPage, found: ReadonlySet<string>): readonly string[] {
    const oldest = page.sessions.at(-1)?.session.startedAt ?? '';
    const isCovered = (ref: string): boolean => {
      if (page.nextCursor === null) return true;
      const startedAt = this.get(ref)?.row.peek().session.startedAt ?? '';
      return this.#filter.sort === undefined && startedAt > oldest;
    };
    return this.shown.peek().flatMap(({ key }) => (!found.has(key) && isCovered(key) ? [key] : []));
  }

  async #lookUpPast(refs: readonly string[]): Promise<void> {
    const open = refs.flatMap((ref) => {
      const known = this.get(ref);
      if (known === undefined) return [];
      known.isPast.value = true;
      return known.row.peek().state === 'ended' ? [] : [ref];
    });
    await Promise.all(
      open.slice(0, MAX_LOOKED_UP).map(async (ref) => {
        const answer = await get<Session>(`/api/operator/sessions/${ref}`);
        if (answer.ok) this.change(this.#latest(withoutId(answer.body)), this.get(ref)?.isPast.peek());
      }),
    );
  }

  #applyChange(change: SessionChange): void {
    const { ref } = change;
    if (this.fresh.peek().some((session) => session.ref === ref))
      this.fresh.value = this.fresh.peek().map((session) => (session.ref === ref ? after(session, change) : session));
    const known = this.get(ref);
    if (known === undefined) return;
    this.#told.set(ref, { change, heardMs: Date.now() });
    this.change(after(known.row.peek(), change), isLeaving(this.#filter, change));
  }

  /** A reading may be older than what the feed has reported. */
  #latest(read: Session): Session {
    const session = reconciled(read, this.#told.get(read.ref), Date.now());
    if (session === read) this.#told.delete(read.ref);
    return session;
  }

  #update(read: Session): void {
    const session = this.#latest(read);
    const told = this.#told.get(read.ref);
    this.change(session, told !== undefined && isLeaving(this.#filter, told.change));
  }

  #differs(session: Session): boolean {
    return differ(this.get(session.ref)?.row.peek(), session);
  }

  #isShown({ ref }: { readonly ref: string }): boolean {
    return this.get(ref) !== undefined;
  }

  #isAway(): boolean {
    const failure = this.failure.peek();
    return failure !== undefined && isPassing(failure);
  }

  #count(): void {
    if (!isPaused.peek()) {
      this.#differing.clear();
      this.#held.clear();
    }
    waiting.value = this.fresh.peek().length + new Set([...this.#differing, ...this.#held.keys()]).size;
  }
}

const keptOf = createKept<SessionRows>();

/** The list of a filter. Going back to it restores its position and selection. */
export function rowsOf(address: string, filter: Filter): SessionRows {
  return keptOf(address, () => new SessionRows(filter));
}

/** The whole id would let its reader act for the session, so it is dropped as soon as it arrives. */
function withoutId(session: Session): Session {
  const { id: _, ...rest } = session as Session & { readonly id?: string };
  return rest;
}

/** A reading may be older than what the feed has reported, and does not undo that for this long. */
const HOLDS_MS = 10 * SECOND_MS;

export interface HeardChange {
  readonly change: SessionChange;
  /** When it was received, by this computer's clock. */
  readonly heardMs: number;
}

/** A session after a change. A change does not include total usage or the last heartbeat, nor, from an older node, the next deadline. */
export function after(session: Session, { state, reason, at, next }: SessionChange): Session {
  return { ...session, state, endReason: reason, endedAt: state === 'ended' ? at : null, deadline: next ?? null };
}

/** The session as it was read, or with a change that the feed has reported since. */
export function reconciled(read: Session, told: HeardChange | undefined, nowMs: number): Session {
  const isHeld = told !== undefined && nowMs - told.heardMs < HOLDS_MS && read.state !== told.change.state;
  return isHeld ? after(read, told.change) : read;
}

/** Whether a session that matched a filter no longer does. */
export function isLeaving({ state, reason }: Filter, change: SessionChange): boolean {
  return !isIn(state, change.state) || !isIn(reason, change.reason);
}

/** Whether a list must be read again to show a change. */
export function isUntold(filter: Filter, change: SessionChange, isListed: boolean): boolean {
  // The session may have moved to another place in the list.
  if ((filter.sort ?? '-startedAt') !== '-startedAt' || filter.endingWithinSec !== undefined) return true;
  // Its total usage is known only now.
  if (isListed) return change.state === 'ended';
  return change.was === null && !isLeaving(filter, change);
}

function isIn(list: string | undefined, value: string | null): boolean {
  return list === undefined || list.split(',').some((one) => one === value);
}
