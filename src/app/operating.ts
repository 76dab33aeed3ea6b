import type { Config } from '../../config/config.ts';
import { createOperators, serviceOperator } from '../auth/operators.ts';
import { Feed, type FeedDeps } from '../feed/feed.ts';
import { tellActs } from '../feed/act-facts.ts';
import { RefusalFacts } from '../feed/refusal-facts.ts';
import { tellNotes, tellSessions } from '../feed/session-facts.ts';
import type { ConsoleCookie } from '../http/steps/login.ts';
import type { Clock } from '../kernel/clock.ts';
import { Inspector } from '../operator/inspector.ts';
import { toldMachines } from '../operator/machines.ts';
import type { NodeList } from '../node/nodes.ts';
import type { Presence } from '../node/presence.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { DurableStores } from '../stores/postgres.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import type { JournalFeature } from './journal.ts';

export interface OperatingDeps {
  readonly config: Config;
  readonly node: string;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly stores: Pick<DurableStores, 'history'>;
  readonly listen: JournalFeature['listen'];
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
  readonly figures: FeedDeps['figures'];
  readonly nodes: NodeList;
  readonly presence: Presence;
  readonly directory: Pick<TenantDirectory, 'administeredBy'>;
  readonly cookies: Pick<ConsoleCookie, 'authenticate'>;
}

/** Wires who operates, and the feed of what happens. */
export function wireOperating(deps: OperatingDeps) {
  const { config, node, clock, bus, figures, nodes, presence, directory, cookies, metrics, onError } = deps;
  const operatorOf = createOperators({
    operatorEmails: config.operatorEmails,
    viewerEmails: config.viewerEmails,
    administeredBy: (email) => directory.administeredBy(email),
  });
  const refusals = new RefusalFacts(() => feed.isWanted('refusals'));
  metrics.activity.onRefused = (code, whose) => refusals.count(code, whose);
  const feed: Feed = new Feed({
    node,
    bus,
    now: () => clock.now(),
    async admit({ service, token }) {
      if (service !== null) return { operator: serviceOperator(service), loginId: null };
      const found = token === null ? undefined : await cookies.authenticate(token, clock.now());
      return found === undefined ? undefined : { operator: operatorOf(found.login.email), loginId: found.login.id };
    },
    figures,
    nodes,
    presence,
    takeRefusals: () => refusals.take(),
    onError,
  });
  const inspector = config.inspect ? wireInspector(deps) : undefined;
  deps.listen({
    traced: tellSessions(feed, config.voice),
    noted: tellNotes(feed),
    refused: (entry) => refusals.sample(entry),
    settled: tellActs(feed),
  });
  if (inspector !== undefined) deps.listen({ traced: (traced) => inspector.note(traced) });
  metrics.observe('switchboard_feed_sockets', 'Sockets of operators that watch the feed', () => feed.size);
  return { operatorOf, feed, inspector };
}

/** Sessions that an inspector is told of when it attaches. */
const MAX_INSPECTED = 200;

function wireInspector({ config, clock, stores, onError }: OperatingDeps): Inspector {
  return new Inspector({
    machines: toldMachines(config),
    limits: config.voice,
    now: () => clock.now(),
    async open() {
      const { rows } = await stores.history.list({ states: ['engaged', 'idle', 'stale'] }, undefined, MAX_INSPECTED);
      return rows.map(({ record }) => record);
    },
    onError,
  });
}
