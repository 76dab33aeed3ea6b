import { idleAtMs } from '../../../machines/voice-session/selectors.ts';
import type { VoiceLimits } from '../../../machines/voice-session/types.ts';
import type { BudgetUse, ConnectedSpan } from '../../stores/budgets/contract.ts';
import type { CountedUsage, EntryPosition, UsageReports } from '../../stores/usage-reports/contract.ts';
import type { HistoryRow, Position, VoiceHistory } from '../../stores/voice-history/contract.ts';
import type { Replay } from './replay.ts';

const SESSIONS = 500;
const ENTRIES = 2000;

export interface ReplayStores {
  readonly history: Pick<VoiceHistory, 'list'>;
  readonly usageReports: Pick<UsageReports, 'entries'>;
  readonly budgetUse: Pick<BudgetUse, 'spansOf'>;
}

export interface ReplayRange {
  readonly tenantId: string;
  /** Where reading sessions and usage entries starts: earlier than the reported span. */
  readonly sessionsFromMs: number;
  readonly usageFromMs: number;
  readonly toMs: number;
  /** Whether the time matters for which calls were connected. */
  readonly countsMinutes: boolean;
}

/**
 * Feeds a replay with sessions and usage in the order of time, keeping two pages in memory. At the same instant sessions come first.
 * @yields after each page read; a consumer that stops leaves the rest unread
 * @throws Unavailable when the database is away
 */
export async function* readInto(
  replay: Replay,
  range: ReplayRange,
  limits: VoiceLimits,
  stores: ReplayStores,
): AsyncGenerator<undefined> {
  const entries = entryPages(range, stores);
  let page: readonly CountedUsage[] = [];
  let at = 0;
  let isOver = false;

  /** Feeds the usage entries before an instant. */
  async function* usageUntil(untilMs: number): AsyncGenerator<undefined> {
    while (!isOver) {
      for (; at < page.length; at += 1) {
        const entry = page[at];
        if (entry === undefined || entry.atMs >= untilMs) return;
        replay.counted(entry);
      }
      const next = await entries.next();
      isOver = next.done === true;
      page = next.done === true ? [] : next.value;
      at = 0;
      yield;
    }
  }

  for await (const rows of sessionPages(range, stores)) {
    const calls = range.countsMinutes ? await callsOf(rows, stores) : undefined;
    for (const { record, state } of rows) {
      yield* usageUntil(record.startedAtMs);
      const slotEndMs =
        state === 'engaged' ? Infinity : Math.min(record.endedAtMs ?? Infinity, idleAtMs(record, limits));
      await replay.opened(record, slotEndMs, calls?.get(record.id));
    }
    const last = rows.at(-1);
    if (last !== undefined) replay.forget(last.record.startedAtMs);
    yield;
  }
  yield* usageUntil(Infinity);
  replay.passTo(range.toMs);
}

async function* sessionPages(
  { tenantId, sessionsFromMs, toMs }: ReplayRange,
  { history }: ReplayStores,
): AsyncGenerator<readonly HistoryRow[]> {
  let after: Position | undefined;
  do {
    const page = await history.list({ tenantId, fromMs: sessionsFromMs, toMs }, after, SESSIONS, 'startedAt');
    yield page.rows;
    after = page.next;
  } while (after !== undefined);
}

/** When the calls of each session were connected. */
async function callsOf(
  rows: readonly HistoryRow[],
  { budgetUse }: Pick<ReplayStores, 'budgetUse'>,
): Promise<ReadonlyMap<string, readonly ConnectedSpan[]>> {
  const calls = new Map<string, ConnectedSpan[]>(rows.map(({ record }) => [record.id, []]));
  for (const span of await budgetUse.spansOf([...calls.keys()])) calls.get(span.sessionId)?.push(span);
  return calls;
}

async function* entryPages(
  { tenantId, usageFromMs, toMs }: ReplayRange,
  { usageReports }: ReplayStores,
): AsyncGenerator<readonly CountedUsage[]> {
  let after: EntryPosition | undefined;
  do {
    const { rows, next } = await usageReports.entries(tenantId, usageFromMs, toMs, after, ENTRIES);
    yield rows;
    after = next;
  } while (after !== undefined);
}
