/** What an operator should look at first: what stands out in the overview, apart from the service's verdict on itself and the provider. */
import type { EndReason } from '../../../protocol/session.ts';
import { moneyText } from '../../../protocol/money.ts';
import { countText, nodeName, shortName } from '../labels/format.ts';
import { reasonWords } from '../labels/sessions.ts';
import { isLate, oddNodes } from './nodes.ts';
import { queryText } from './query.ts';
import type { Overview } from './shapes.ts';
import { DAY_MS } from './durations.ts';

export interface Matter {
  /** `wrong`: needs action now. `watch`: should be watched. */
  readonly degree: 'wrong' | 'watch';
  readonly sentence: string;
  /** A time to show after the sentence. */
  readonly at?: string;
  readonly href: string;
}

/** Fewer events may be chance. */
const MIN_EVENTS = 10;
/** A count stands out from this many times the usual one. */
const MIN_FACTOR = 3;
const MIN_LEAD_MS = 1000;
/** End reasons that are normal, however frequent. */
const USUAL_ENDS: ReadonlySet<string> = new Set<EndReason>([
  'closed_by_client',
  'duration_exceeded',
  'idle_exceeded',
  'closed_by_operator',
  'closed_by_tool',
]);

/** What stands out, with what is wrong first. */
export function whatStandsOut(overview: Overview): readonly Matter[] {
  const matters = [...mattersOf(overview)];
  return [...matters.filter(({ degree }) => degree === 'wrong'), ...matters.filter(({ degree }) => degree === 'watch')];
}

function* mattersOf(overview: Overview): Iterable<Matter> {
  const { activity, spend } = overview;
  yield* ofNodes(overview);
  yield* ofHangups(overview);
  yield* ofDrift(overview);
  yield* ofReconciliation(overview);
  yield* ofWebhooks(overview);
  yield* ofClocks(overview);
  if (spend !== null) yield* ofSpend(spend);
  if (activity === null) return;
  yield* ofRefusals(activity.hour);
  yield* ofEnds(activity.hour);
}

function* ofNodes({ nodes, dependencies, verdict }: Overview): Iterable<Matter> {
  const href = '/console/nodes';
  // The list of processes includes the answering one, though its state there is a little older.
  const seen = nodes.length === 0 ? [{ name: 'this process', dependencies }] : nodes.map(named);
  const away = new Map<string, string[]>();
  for (const node of seen)
    for (const { name, state } of node.dependencies)
      if (state === 'away') away.set(name, [...(away.get(name) ?? []), node.name]);
  // The verdict on the provider says more than that its last answer failed.
  if (verdict !== null) away.delete('provider');
  for (const [name, whose] of away) {
    const where = whose.length === seen.length ? 'every process' : whose.join(', ');
    yield { degree: 'wrong', sentence: `The ${name} is away for ${where}`, href };
  }
  for (const node of nodes.filter(isLate)) {
    const sentence = `The event loop of ${nodeName(node)} is ${Math.round(node.loopP99Ms)} ms late`;
    yield { degree: 'wrong', sentence, href };
  }
  const dropped = nodes.reduce((sum, { eventsDropped }) => sum + eventsDropped, 0);
  if (dropped > 0)
    yield { degree: 'watch', sentence: `${countText(dropped)} events were dropped since the start`, href };
  const differences = [
    oddNodes(nodes, ({ version }) => version).size > 0 && 'run different versions',
    oddNodes(nodes, ({ configHash }) => configHash).size > 0 && 'are set differently',
  ].filter(Boolean);
  if (differences.length > 0) yield { degree: 'watch', sentence: `Processes ${differences.join(' and ')}`, href };
}

function* ofHangups({ lateHangups }: Overview): Iterable<Matter> {
  // Null while it cannot be read; undefined from an older server.
  if ((lateHangups ?? 0) === 0) return;
  const calls = lateHangups === 1 ? '1 call is' : `${countText(lateHangups ?? 0)} calls are`;
  const sentence = `${calls} still closing after 10 s, without a confirmed hang-up: the provider may go on billing`;
  yield { degree: 'wrong', sentence, href: `/console/calls${queryText({ state: 'closing' })}` };
}

function* ofDrift({ unexplainedDollars }: Overview): Iterable<Matter> {
  // Null while it cannot be read; undefined from an older server.
  const dollars = unexplainedDollars ?? 0;
  if (dollars === 0) return;
  const sentence = `The provider’s bill of the last three days differs by ${moneyText(dollars)}, unexplained`;
  yield { degree: 'wrong', sentence, href: '/console/usage' };
}

/** The provider is asked every morning. */
const RECONCILED_MS = 2 * DAY_MS;

function* ofReconciliation({ reconciledAt, asOf }: Overview): Iterable<Matter> {
  // Undefined from an older server.
  const silentMs = typeof reconciledAt === 'string' ? Date.parse(asOf) - Date.parse(reconciledAt) : 0;
  if (silentMs < RECONCILED_MS) return;
  const sentence = `The provider has not said for ${Math.floor(silentMs / DAY_MS)} days what it bills: check OPENAI_ADMIN_KEY, and the log for \`reconciliation\``;
  yield { degree: 'wrong', sentence, href: '/console/usage' };
}

function* ofWebhooks({ webhooks }: Overview): Iterable<Matter> {
  // Null while it cannot be read; undefined from an older server.
  const { failing = 0, disabled = 0 } = webhooks ?? {};
  const href = '/console/webhooks';
  const were = disabled === 1 ? '1 webhook was' : `${countText(disabled)} webhooks were`;
  const fail = failing === 1 ? '1 webhook fails' : `${countText(failing)} webhooks fail`;
  if (disabled > 0)
    yield { degree: 'wrong', sentence: `${were} given up: nothing is sent until somebody enables it`, href };
  if (failing > 0) yield { degree: 'watch', sentence: `${fail}: what is to be told waits`, href };
}

function* ofClocks({ nodes }: Overview): Iterable<Matter> {
  const leadsMs = nodes.map(({ clockLeadMs = 0 }) => clockLeadMs);
  const [leadMs = 0] = leadsMs.toSorted((one, other) => Math.abs(other) - Math.abs(one));
  if (Math.abs(leadMs) < MIN_LEAD_MS) return;
  const where = `${Math.round(Math.abs(leadMs) / 1000)} s ${leadMs < 0 ? 'ahead of' : 'behind'}`;
  const sentence = `The live store's clock was set and is not followed: it is ${where} the time in use`;
  yield { degree: 'watch', sentence, href: '/console/nodes' };
}

function named(node: Overview['nodes'][number]) {
  return { name: nodeName(node), dependencies: node.dependencies };
}

function* ofSpend(spend: NonNullable<Overview['spend']>): Iterable<Matter> {
  const { dollars, ceiling, projected, atCeiling } = spend;
  const byKey = '/console/usage?by=key';
  if (ceiling !== null && dollars >= ceiling)
    yield { degree: 'wrong', sentence: `Today's ceiling of ${moneyText(ceiling)} is reached`, href: byKey };
  else if (ceiling !== null && projected !== null && projected > ceiling) {
    const sentence = `At this pace today costs ${moneyText(projected)}, more than its ceiling of ${moneyText(ceiling)}`;
    yield { degree: 'watch', sentence, href: byKey };
  }
  // An older server does not send them.
  for (const { tenantId, id, at } of spend.budgets ?? []) {
    const name = tenantId === null ? `The budget ${id} of the installation` : `The budget ${id} of ${tenantId}`;
    const href = `/console/budgets${queryText({ tenantId })}`;
    if (at === null) yield { degree: 'wrong', sentence: `${name} is used up`, href };
    else yield { degree: 'watch', sentence: `${name} is used up at this pace at`, at, href };
  }
  for (const { tenantId, keyId, at } of spend.totals ?? []) {
    const name = `The daily ceiling of ${keyId === null ? tenantId : `the key ${keyId} of ${tenantId}`}`;
    const href =
      keyId === null ? `/console/usage${queryText({ by: 'key', tenantId })}` : `/console/keys/${tenantId}/${keyId}`;
    if (at === null)
      yield { degree: 'wrong', sentence: `${name} is used up: visitors are refused until midnight`, href };
    else yield { degree: 'watch', sentence: `${name} is used up at this pace at`, at, href };
  }
  const [first] = atCeiling ?? [];
  if (first === undefined) return;
  const sentence =
    atCeiling?.length === 1
      ? `Subject ${shortName(first.subject)} reaches its ceiling at`
      : `${atCeiling?.length} subjects reach their ceilings, the first at`;
  yield { degree: 'watch', sentence, at: first.at, href: '/console/usage?by=subject' };
}

function* ofRefusals(hour: Hour): Iterable<Matter> {
  const { counts, words } = comparedWith(hour, 'refused');
  const codes = surges(hour.refused, counts);
  const [code] = codes;
  if (code === undefined) return;
  const told = codes.map((each) => `${each} ${fromTo(hour.refused[each], counts[each], words)}`);
  const only = codes.length === 1 ? code : undefined;
  const href = `/console/refusals${queryText({ code: only, from: '-1h' })}`;
  yield { degree: 'watch', sentence: `Refused more than ${words.than}: ${told.join(', ')}`, href };
}

function* ofEnds(hour: Hour): Iterable<Matter> {
  const { counts, words } = comparedWith(hour, 'ended');
  const reasons = surges(hour.ended, counts).filter((reason) => !USUAL_ENDS.has(reason));
  if (reasons.length === 0) return;
  const told = reasons.map((each) => `${reasonWords(each)} ${fromTo(hour.ended[each], counts[each], words)}`);
  const href = `/console/sessions${queryText({ reason: reasons.join(','), sort: '-endedAt' })}`;
  yield { degree: 'watch', sentence: `Ended more than ${words.than}: ${told.join(', ')}`, href };
}

type Hour = NonNullable<Overview['activity']>['hour'];
type Words = (typeof COMPARED)[keyof typeof COMPARED];

const COMPARED = {
  usual: { than: 'is usual at this time', was: 'usually' },
  before: { than: 'in the hour before', was: 'was' },
} as const;

/** The usual counts for this time of day; the previous hour's if the service does not know them yet or is an older version. */
function comparedWith({ usual, previous }: Hour, what: 'ended' | 'refused'): { counts: Counts; words: Words } {
  return usual == null
    ? { counts: previous[what], words: COMPARED.before }
    : { counts: usual[what], words: COMPARED.usual };
}

type Counts = Readonly<Record<string, number>>;

function surges(now: Counts, before: Counts): string[] {
  return Object.entries(now)
    .filter(([name, n]) => n >= MIN_EVENTS && n >= MIN_FACTOR * (before[name] ?? 0))
    .toSorted(([, a], [, b]) => b - a)
    .map(([name]) => name);
}

function fromTo(now = 0, before = 0, { was }: Words): string {
  return `${countText(now)} (${was} ${countText(before)})`;
}
