import { laterOf } from '../../machines/voice-session/merge.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { ifAway, Unavailable } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/async.ts';
import { refOf } from '../kernel/ids.ts';
import { noSuchSession, Refusal } from '../protocol/refusal.ts';
import { sessionName } from '../protocol/session.ts';
import type { HistoryRow, VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';

export interface FoundSessions {
  /** If either store knows that a session has ended, its record says so. */
  readonly records: readonly VoiceRecord[];
  /** False when a store was away, so that sessions or ends may be missing. */
  readonly isWhole: boolean;
}

/**
 * The current records of many sessions, with one call to each store. The history may know ends that the registry does not have yet, and the registry
 * may know ends that the history does not have yet.
 */
export async function findSessions(
  ids: readonly string[],
  registry: Pick<VoiceRegistry, 'load'>,
  history: Pick<VoiceHistory, 'endedAmong'>,
): Promise<FoundSessions> {
  const { answers, faults } = await askBoth<readonly (VoiceRecord | undefined)[]>(
    // Loads that start in one turn share one script call of Redis.
    Promise.all(ids.map(async (id) => registry.load(id))),
    history.endedAmong(ids),
  );
  const found = new Map<string, VoiceRecord>();
  for (const record of answers.flat()) if (record !== undefined) found.set(record.id, record);
  return { records: [...found.values()], isWhole: faults.length === 0 };
}

/**
 * Rows of the history with the times of the live registry, which knows every heartbeat. While the registry is away the times are the history's;
 * states and ends always are.
 */
export async function withLiveTimes(
  rows: readonly HistoryRow[],
  registry: Pick<VoiceRegistry, 'load'>,
): Promise<HistoryRow[]> {
  const present = async ({ record }: HistoryRow): Promise<VoiceRecord | undefined> => registry.load(record.id);
  return Promise.all(
    rows.map(async (row) => {
      const held = row.record.endedAtMs === null ? await present(row).catch(ifAway(() => undefined)) : undefined;
      return held === undefined || held.endedAtMs !== null ? row : { ...row, record: laterOf(held, row.record) };
    }),
  );
}

/**
 * Ids that either store knows: the registry may have lost some, and the history does not have sessions yet that are just being opened.
 * @throws Unavailable when both are away
 */
export async function idsOfEither(
  ofRegistry: Eventually<readonly string[]>,
  ofHistory: Promise<readonly VoiceRecord[]>,
): Promise<readonly string[]> {
  const kept = ofHistory.then((records) => records.map(({ id }) => id));
  const { answers, faults } = await askBoth(Promise.resolve(ofRegistry), kept);
  if (answers.length === 0) throw faults[0];
  return [...new Set(answers.flat())];
}

/** The answers of the stores that are not away, the registry's first. @throws any other fault */
async function askBoth<T>(registry: Promise<T>, history: Promise<T>): Promise<{ answers: T[]; faults: Unavailable[] }> {
  const answers: T[] = [];
  const faults: Unavailable[] = [];
  for (const one of await Promise.allSettled([registry, history])) {
    if (one.status === 'fulfilled') answers.push(one.value);
    else if (one.reason instanceof Unavailable) faults.push(one.reason);
    else throw one.reason;
  }
  return { answers, faults };
}

/**
 * The whole id of the session that an operator names by its id or its ref. Every session is in the history before anybody can name it, so the history
 * is enough.
 * @returns SESSION_NOT_FOUND, or AMBIGUOUS for a ref that several sessions have
 * @throws Unavailable for a ref when the database is away
 */
export async function idOfNamed(name: string, history: Pick<VoiceHistory, 'list'>): Promise<string | Refusal> {
  if (!sessionName.test(name)) return noSuchSession();
  if (refOf(name) !== name) return name;
  const page = await history.list({ idPrefix: name }, undefined, 2);
  const [first, second] = page.rows;
  if (first === undefined) return noSuchSession();
  if (second !== undefined)
    return new Refusal('AMBIGUOUS', 'Several sessions have this ref; name one by its whole id.');
  return first.record.id;
}
