import { reportActs } from '../operators/journal/acts.ts';
import { createAddressHash, Refusals } from '../operators/journal/refusals.ts';
import { SessionNotes } from '../operators/journal/events.ts';
import { JournalWriter } from '../operators/journal/writer.ts';
import type { NoteSession } from '../stores/journal/contract.ts';
import { longestSilenceMs } from '../sessions/records.ts';
import type { Foundations } from './foundations.ts';

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
    now: clock.now.bind(clock),
    write: writer.note,
    onLeftOut: () => metrics.sessionNotesLeftOut.inc(),
  });
  writer.listen({ traced: events.transition, sessionEnded: sessionNotes.ended.bind(sessionNotes) });
  const note: NoteSession = sessionNotes.take.bind(sessionNotes);

  metrics.observe('switchboard_events_waiting', 'Events of actors that wait for the database', () => writer.events);
  metrics.observe('switchboard_refusals_waiting', 'Refusals that wait for the database', () => writer.refusals);
  return {
    writer,
    refusals,
    sessionNotes,
    note,
    silence: { longerThanMs: longestSilenceMs(config.heartbeatIntervalSec), note },
    trace: writer.trace,
    acts: reportActs(stores.journal, { log: events.operatorActed.bind(events), settled: writer.settled }),
  };
}
