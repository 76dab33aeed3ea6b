import { savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { TracedEvent } from '../actors/trace.ts';
import { refOf } from '../kernel/ids.ts';
import { iso } from '../kernel/time.ts';
import { deadlineOf } from '../operators/sessions/view.ts';
import { toWholeAuditRow, viewOfEvent } from '../operators/journal/view.ts';
import type { HostedRecords } from '../operators/journal/events.ts';
import type { NewEntry } from '../stores/journal/contract.ts';
import type { Feed } from './feed.ts';

/** Tells the feed about voice sessions: their changes of state, and to watchers who follow a session each of its events. */
export function tellSessions(
  feed: Pick<Feed, 'isWatched' | 'isFollowed' | 'tell'>,
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
export function tellNotes(
  feed: Pick<Feed, 'isWatched' | 'isFollowed' | 'tell'>,
): (note: NewEntry<'note'>, tenantId: string | null) => void {
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
  feed: Pick<Feed, 'isWatched' | 'tell'>,
): (entry: NewEntry<'act'>, result: string, count: number | undefined) => void {
  return (entry, result, count) => {
    if (feed.isWatched) feed.tell({ kind: 'audit', row: { ...toWholeAuditRow(entry), result, count: count ?? null } });
  };
}
