import type { Config } from '../../config/config.ts';
import type { Traced } from '../actors/trace.ts';
import { createOperators, serviceOperator } from '../auth/operators.ts';
import { Feed, type FeedDeps } from '../feed/feed.ts';
import { tellActs } from '../feed/act-facts.ts';
import { RefusalFacts } from '../feed/refusal-facts.ts';
import { tellNotes, tellSessions } from '../feed/session-facts.ts';
import type { ConsoleCookie } from '../http/steps/login.ts';
import type { Clock } from '../kernel/clock.ts';
import { Inspector } from '../operator/inspector.ts';
import { SessionNotes } from '../operator/journal/session-notes.ts';
import { transitionOf, type HostedRecords } from '../operator/journal/transition.ts';
import type { JournalWriter } from '../operator/journal/writer.ts';
import { toldMachines } from '../operator/machines.ts';
import type { NodeList } from '../operator/nodes.ts';
import type { NewEntry, NoteSession } from '../stores/journal/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import { longestSilenceMs } from '../voice/silence.ts';

export interface OperatingDeps {
  readonly config: Config;
  readonly node: string;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly stores: Pick<DurableStores, 'history' | 'journal'>;
  readonly journalWriter: Pick<JournalWriter, 'add'>;
  /** Hears of each refusal that is kept. */
  readonly onRefusalKept: (listen: (entry: NewEntry<'refusal'>) => void) => void;
  readonly events: Events;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
  /** These are made later, and asked later. */
  readonly shown: () => { readonly figures: ReturnType<FeedDeps['figures']>; readonly nodes: Pick<NodeList, 'list'> };
  readonly directory: () => Pick<TenantDirectory, 'administeredBy'>;
  readonly cookies: () => Pick<ConsoleCookie, 'authenticate'>;
}

/** Wires who operates, and the feed of what happens. */
export function wireOperating(deps: OperatingDeps) {
  const { config, node, clock, bus, stores, journalWriter, events, metrics, onError } = deps;
  const operatorOf = createOperators({
    operatorEmails: config.operatorEmails,
    viewerEmails: config.viewerEmails,
    administeredBy: (email) => deps.directory().administeredBy(email),
  });
  const refusals = new RefusalFacts(() => feed.isWanted('refusals'));
  metrics.activity.onRefused = (code, whose) => refusals.count(code, whose);
  deps.onRefusalKept((entry) => refusals.sample(entry));
  const feed: Feed = new Feed({
    node,
    bus,
    now: () => clock.now(),
    async admit({ service, token }) {
      if (service !== null) return { operator: serviceOperator(service), loginId: null };
      const found = token === null ? undefined : await deps.cookies().authenticate(token, clock.now());
      return found === undefined ? undefined : { operator: operatorOf(found.login.email), loginId: found.login.id };
    },
    figures: () => deps.shown().figures,
    nodes: () => deps.shown().nodes.list(),
    takeRefusals: () => refusals.take(),
    onError,
  });
  const tellFeed = tellSessions(feed, config.voice);
  const tellNote = tellNotes(feed);
  const sessionNotes = new SessionNotes({
    node,
    now: () => clock.now(),
    write(entry, tenantId) {
      journalWriter.add(entry);
      tellNote(entry, tenantId);
    },
    onLeftOut: () => metrics.sessionNotesLeftOut.inc(),
  });
  const note: NoteSession = (one) => sessionNotes.take(one);
  const silence = { longerThanMs: longestSilenceMs(config.heartbeatIntervalSec), note };

  const inspector = config.inspect ? wireInspector(deps) : undefined;

  function trace(traced: Traced<HostedRecords>): void {
    events.transition?.(traced);
    if (traced.isFinal && traced.machine === 'voice-session') sessionNotes.ended(traced.record.id);
    const entry = transitionOf(traced, node);
    if (entry !== undefined) journalWriter.add(entry);
    tellFeed(traced, entry);
    inspector?.note(traced);
  }

  metrics.observe('switchboard_feed_sockets', 'Sockets of operators that watch the feed', () => feed.size);
  return { operatorOf, feed, inspector, trace, sessionNotes, note, silence, acts: tellActs(stores.journal, feed) };
}

/** Sessions that an inspector is told of when it attaches. */
const MOST_INSPECTED = 200;

function wireInspector({ config, clock, stores, onError }: OperatingDeps): Inspector {
  return new Inspector({
    machines: toldMachines(config),
    limits: config.voice,
    now: () => clock.now(),
    async open() {
      const { rows } = await stores.history.list({ states: ['engaged', 'idle', 'stale'] }, undefined, MOST_INSPECTED);
      return rows.map(({ record }) => record);
    },
    onError,
  });
}
