import type { TracedEvent } from '../actors/trace.ts';
import { reportActs } from '../operators/journal/acts.ts';
import { createAddressHash, Refusals } from '../operators/journal/refusals.ts';
import { SessionNotes, transitionOf, type HostedRecords } from '../operators/journal/events.ts';
import { JournalWriter } from '../operators/journal/writer.ts';
import type { ActResult } from '../stores/journal/act-contract.ts';
import type { NewEntry, NoteSession } from '../stores/journal/contract.ts';
import { longestSilenceMs } from '../voice/records.ts';
import type { Foundations } from './foundations.ts';

/** Is notified of what happens as it enters the journal. */
export interface JournalListener {
  /** @param entry undefined where the journal does not keep it */
  readonly traced?: (traced: TracedEvent<HostedRecords>, entry: NewEntry<'transition'> | undefined) => void;
  readonly noted?: (entry: NewEntry<'note'>, tenantId: string | null) => void;
  /** Called once the result of an act is known; for a bulk act once, with the count of what it changed. */
  readonly settled?: (entry: NewEntry<'act'>, result: ActResult, count: number | undefined) => void;
}

export type OpenJournal = ReturnType<typeof openJournal>;

/** Opens the parts that write to the journal. It depends on no feature, so that every feature can be given it. */
export function openJournal({
  config,
  stores,
  node: { id: node },
  installationKey,
  clock,
  events,
  metrics,
  onError,
}: Foundations & { readonly installationKey: Buffer }) {
  const listeners: JournalListener[] = [];
  const writer = new JournalWriter({
    journal: stores.journal,
    node,
    onDropped(kind) {
      const [counter, label] =
        kind === 'refusal'
          ? ([metrics.refusalsDropped, 'refusal'] as const)
          : ([metrics.actorEventsDropped, 'event'] as const);
      counter.inc();
      metrics.activity.count('dropped', label);
    },
    onError,
  });
  const refusals = new Refusals({
    writer,
    node,
    hashOf: createAddressHash(installationKey),
    activity: metrics.activity,
  });
  const sessionNotes = new SessionNotes({
    node,
    now: () => clock.now(),
    write(entry, tenantId) {
      writer.add(entry);
      for (const { noted } of listeners) noted?.(entry, tenantId);
    },
    onLeftOut: () => metrics.sessionNotesLeftOut.inc(),
  });
  const note: NoteSession = (one) => sessionNotes.take(one);

  function trace(traced: TracedEvent<HostedRecords>): void {
    events.transition?.(traced);
    if (traced.isFinal && traced.machine === 'voice-session') sessionNotes.ended(traced.record.id, traced.atMs);
    const entry = transitionOf(traced, node);
    if (entry !== undefined) writer.add(entry);
    for (const listener of listeners) listener.traced?.(traced, entry);
  }

  metrics.observe('switchboard_events_waiting', 'Events of actors that wait for the database', () => writer.events);
  metrics.observe('switchboard_refusals_waiting', 'Refusals that wait for the database', () => writer.refusals);
  return {
    writer,
    refusals,
    sessionNotes,
    note,
    silence: { longerThanMs: longestSilenceMs(config.heartbeatIntervalSec), note },
    trace,
    acts: reportActs(stores.journal, {
      begun({ code, of: { batchId, target = '' }, detail: { role }, requestId }) {
        events.operatorActed(role ?? '', code, batchId ?? target, requestId);
      },
      settled(entry, result, count) {
        for (const { settled } of listeners) settled?.(entry, result, count);
      },
    }),
    listen: (listener: JournalListener) => void listeners.push(listener),
  };
}
