import { savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Traced } from '../actors/trace.ts';
import { refOf } from '../kernel/ids.ts';
import { iso } from '../kernel/time.ts';
import { describeTraced, type HostedRecords } from '../operator/actor-event.ts';
import { deadlineOf } from '../operator/deadline.ts';
import { viewOfEvent } from '../operator/event-view.ts';
import type { NewActorEvent } from '../stores/actor-events/contract.ts';
import type { Feed } from './feed.ts';

/** Tells the feed what voice sessions do: their changes of state, and to those who follow one each of its events. */
export function tellSessions(
  feed: Pick<Feed, 'isWatched' | 'isFollowed' | 'tell'>,
  limits: VoiceLimits,
  node: string,
): (traced: Traced<HostedRecords>) => void {
  return (traced) => {
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
    if (!feed.isFollowed(ref)) return;
    const event = describeTraced(traced, node);
    // It has no number before it is written.
    if (event !== undefined)
      feed.tell({ kind: 'event', ref, tenantId: record.tenantId, event: viewOfEvent(event, `v${event.version}`) });
  };
}

/** Tells those who follow a session what is noted of it. */
export function tellNotes(
  feed: Pick<Feed, 'isWatched' | 'isFollowed' | 'tell'>,
): (event: NewActorEvent, tenantId: string | null) => void {
  let told = 0;
  return (event, tenantId) => {
    const { actor: ref, atMs } = event;
    // Whose it is decides who may see it.
    if (tenantId === null || !feed.isWatched || !feed.isFollowed(ref)) return;
    told += 1;
    feed.tell({ kind: 'event', ref, tenantId, event: viewOfEvent(event, `n${atMs}-${told}`) });
  };
}
