import { iso, isoOrNull } from '../../kernel/time.ts';
import type { Layer } from '../../protocol/errors/error-row.ts';
import type { OperatorRefusal } from '../../protocol/operator/refusal.ts';
import type {
  Entry,
  FlatDetail,
  NewEntry,
  Journal,
  JournalPage,
  JournalPosition,
  MachineName,
} from '../../stores/journal/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import { ERROR_CODES, type Code } from '../../protocol/errors/error-codes.ts';
import type { OperatorEvent } from '../../protocol/operator/event.ts';
import { actorSeenBy, type Operator, eventSeenBy, nodeSeenBy } from '../roles.ts';
import type { AuditRow } from '../../protocol/operator/audit.ts';
import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { refOf } from '../../kernel/ids.ts';

/** A stored refusal as operators with the given scope see it. */
export function viewOfRefusal(refusal: NewEntry<'refusal'>, tenants: TenantScope): OperatorRefusal {
  const kept = tenants === '*' ? refusal : withoutUsageElsewhere(refusal);
  const { requestId, atMs, code } = kept;
  const { tenantId = null, keyId = null, subject = null } = kept.of;
  const { status, layer, route, origin, addressHash, network } = kept.detail;
  const { limit = null, count = null, retryAfter = null, verdict = null } = kept.detail;
  return {
    requestId: requestId ?? '',
    at: iso(atMs),
    code,
    status,
    layer: layer as Layer,
    route,
    tenantId,
    keyId,
    subject,
    origin,
    addressHash,
    network,
    limit,
    count,
    retryAfter,
    verdict,
    ...explainRefusal(kept),
    node: tenants === '*' ? kept.node : null,
  };
}

/** Hides usage that adds up over all tenants, as a console user's day does: no tenant's operators may learn it. */
function withoutUsageElsewhere(refusal: NewEntry<'refusal'>): NewEntry<'refusal'> {
  if (refusal.detail.layer !== 'quota' || (refusal.of.keyId ?? null) !== null) return refusal;
  return { ...refusal, detail: { ...refusal.detail, count: undefined } };
}

/** Why a request was refused: one sentence with the known numbers, and the variable or the key's field that sets the limit. */
export function explainRefusal(refusal: NewEntry<'refusal'>): Pick<OperatorRefusal, 'sentence' | 'lever'> {
  const { code, detail } = refusal;
  const row = Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as Code] : undefined;
  // No variable of ours sets the provider's own limits.
  const isProviders = code === 'RATE_LIMIT_EXCEEDED' && detail.layer === 'mint';
  const lever = detail.lever ?? (isProviders ? undefined : row?.lever) ?? null;
  const { explanation = `The request was refused with ${code}` } = row ?? {};
  const said = typeof explanation === 'string' ? explanation : explanation(refusal);
  const { retryAfter } = detail;
  const wait = retryAfter === undefined ? '' : `; the caller was told to wait ${retryAfter} s`;
  return { sentence: `${said}${lever === null ? '' : ` (${lever})`}${wait}.`, lever };
}

/** A transition or a note as operators see it. @param id by which it is fetched */
export function viewOfEvent(entry: NewEntry<'transition' | 'note'>, id: string): OperatorEvent {
  const { atMs, node, requestId } = entry;
  return { id, at: iso(atMs), ...(entry.kind === 'note' ? ofNote(entry) : ofTransition(entry)), node, requestId };
}

type EventView = Omit<OperatorEvent, 'id' | 'at' | 'node' | 'requestId'>;

function ofNote({ code, detail }: NewEntry<'note'>): EventView {
  return { kind: code, event: null, from: null, to: null, steps: [], guards: [], ...recordOf(null, detail) };
}

function ofTransition({ code, detail }: NewEntry<'transition'>): EventView {
  const { change, from, to, steps, guards, version, record } = detail;
  return {
    kind: change,
    event: code,
    from,
    to,
    steps: steps.map(({ actions, ...step }) => ({ ...step, actions: [...actions] })),
    guards: [...guards],
    ...recordOf(version, record),
  };
}

function recordOf(version: number | null, detail: FlatDetail): Pick<OperatorEvent, 'record' | 'detail'> {
  const { lastSeenAtMs, lastActivityAtMs, settledAtMs, ...rest } = detail;
  return {
    record: {
      version,
      lastSeenAt: instantOf(lastSeenAtMs),
      lastActivityAt: instantOf(lastActivityAtMs),
      settledAt: instantOf(settledAtMs),
    },
    detail: rest,
  };
}

/** Only voice sessions have these times. */
const instantOf = (atMs: unknown): string | null => isoOrNull(typeof atMs === 'number' ? atMs : null);

/** An act as a row of the audit, with the unmasked address of who made it. */
export function toWholeAuditRow({ atMs, requestId, code, of, detail }: NewEntry<'act'>): AuditRow {
  const { actor = '', target = '', tenantId = null, batchId = null } = of;
  const { role, reason, result, count, textHash } = detail;
  const row = { at: iso(atMs), actor, role, action: code, target, tenantId, reason, requestId, batchId, result, count };
  return textHash === undefined ? row : { ...row, textHash };
}

/** An act as an operator sees it. */
export function toAuditRow(entry: Entry<'act'>, operator: Operator): AuditRow {
  const row = toWholeAuditRow(entry);
  return { ...row, actor: actorSeenBy(operator, row.actor) };
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
