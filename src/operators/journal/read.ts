import type { z } from 'zod';
import { ifAway } from '../../kernel/errors.ts';
import { iso, MINUTE_MS } from '../../kernel/time.ts';
import type { exactRefusal, refusalMinute } from '../../protocol/operator/refusal.ts';
import type { Entry, Journal, JournalPage, JournalPosition, MachineName } from '../../stores/journal/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import { viewOfEvent, viewOfRefusal } from './view.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../kernel/ids.ts';
import { eventSeenBy, nodeSeenBy, type Operator } from '../roles.ts';
import type { OperatorEvent } from '../../protocol/operator/event.ts';
import type { OperatorServices } from '../services.ts';

type RefusalReply = z.infer<typeof exactRefusal> | z.infer<typeof refusalMinute>;

/**
 * The refusal of a request, or failing that the time of the request, since its id holds the process and the number of the request. In that
 * case it is unknown whose request it was, so only operators who see all tenants are told.
 * @throws Unavailable when the database is away and this process does not remember the refusal
 */
export async function findRefusal(
  requestId: string,
  tenants: TenantScope,
  { core }: OperatorServices,
): Promise<RefusalReply | undefined> {
  const { journal, requestTimes, activity } = core.stores;
  const kept = core.journal.refusals.find(requestId, tenants) ?? (await findWritten(requestId, tenants, journal));
  if (kept !== undefined) return { found: 'exact', refusal: viewOfRefusal(kept, tenants) };
  const [, prefix, counter] = /^req_([\w-]{8})([0-9a-z]{1,9})$/.exec(requestId) ?? [];
  if (tenants !== '*' || prefix === undefined || counter === undefined) return undefined;
  const [time, started] = await Promise.all([
    requestTimes.of(prefix, Number.parseInt(counter, 36)),
    startOf(prefix, journal),
  ]);
  if (time === undefined || started === undefined) return undefined;
  const { fromMs = started.atMs, toMs } = time;
  const first = fromMs - (fromMs % MINUTE_MS);
  // A process that had no requests for a while has a long "minute"; where that is too much to add up, no counts are returned.
  const refused = await activity
    .refused(1, first, toMs - (toMs % MINUTE_MS) + MINUTE_MS, { tenants: '*', shard: started.detail.shard })
    .catch(ifAway(() => undefined));
  return {
    found: 'minute',
    node: started.node ?? '',
    from: iso(fromMs),
    to: iso(toMs),
    byCode: refused?.counted ?? {},
  };
}

async function findWritten(requestId: string, tenants: TenantScope, journal: Pick<Journal, 'list'>) {
  const { entries } = await journal.list({ kinds: ['refusal'], tenants, requestId }, undefined, 1);
  return entries[0];
}

/** The start of the process whose request ids begin with a prefix. */
async function startOf(target: string, journal: Pick<Journal, 'list'>) {
  const { entries } = await journal.list({ kinds: ['process'], tenants: '*', target, code: 'started' }, undefined, 1);
  return entries[0];
}

/** The newest events that are returned together with an actor. */
const NEWEST = 200;

type EventPage = JournalPage<'transition' | 'note'>;

/** The newest events of a session, and the spans in which some may have been lost. */
export interface SessionEvents {
  readonly page: EventPage;
  readonly lost: readonly Entry<'lost'>[];
}

/** @throws Unavailable when the database is away */
export async function newestEvents(
  record: VoiceRecord,
  atMs: number,
  journal: Pick<Journal, 'list' | 'lostWithin'>,
): Promise<SessionEvents> {
  const [page, lost] = await Promise.all([
    eventsOf('voice-session', refOf(record.id), undefined, NEWEST, journal),
    journal.lostWithin(record.startedAtMs, record.endedAtMs ?? atMs),
  ]);
  return { page, lost };
}

export function toEvents({ page, lost }: SessionEvents, operator: Operator) {
  return {
    events: viewsOf(page, operator),
    moreEvents: page.next !== undefined,
    lost: lost.map(({ node, atMs, detail }) => ({
      node: nodeSeenBy(operator, node),
      from: iso(detail.fromMs),
      to: iso(atMs),
      count: detail.count,
    })),
  };
}

/** What an actor of any machine did, newest first. The machine's name lets a reader draw it. @throws Unavailable when the database is away */
export async function eventsOfActor(
  machine: MachineName,
  actor: string,
  operator: Operator,
  journal: Pick<Journal, 'list'>,
) {
  const page = await eventsOf(machine, actor, undefined, NEWEST, journal);
  return { machine, events: viewsOf(page, operator), moreEvents: page.next !== undefined };
}

export function eventsOf(
  machine: MachineName,
  target: string,
  after: JournalPosition | undefined,
  limit: number,
  journal: Pick<Journal, 'list'>,
): Promise<EventPage> {
  return journal.list({ kinds: ['transition', 'note'], tenants: '*', machine, target }, after, limit);
}

export function viewsOf({ entries }: EventPage, operator: Operator): OperatorEvent[] {
  return entries.map((entry) => eventSeenBy(operator, viewOfEvent(entry, String(entry.ordinal))));
}
