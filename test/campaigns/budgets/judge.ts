/** A ledger entry that counts for an account; entries are in the order in which they were saved. */
export interface Entry {
  readonly atMs: number;
  readonly amount: number;
  readonly sessionId: string;
}

export interface ObservedSession {
  readonly id: string;
  readonly endReason: string | null;
}

/** A fact in the journal, or an event that a receiver of webhooks got. */
export interface BudgetFact {
  readonly code: 'budget.warned' | 'budget.exceeded' | 'budget.raised';
  readonly percent: number;
  readonly atMs: number;
}

/** An event, listed once for each webhook id under which it arrived. */
export interface BudgetEvent extends BudgetFact {
  readonly webhookId: string;
}

/** What usage is added up for. A budget per user or per session has several accounts. */
export interface ObservedAccount {
  readonly name: string;
  readonly entries: readonly Entry[];
  /** All sessions that count for the account. */
  readonly sessions: readonly ObservedSession[];
  readonly facts: readonly BudgetFact[];
  readonly events: readonly BudgetEvent[];
}

/** A create that was tried while the account's budget was in a certain state. */
export interface Probe {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly status: number;
  /** Whether this budget refused it. */
  readonly isRefused: boolean;
  /** Whether the budget counts what the session would use. */
  readonly counts: boolean;
}

/** The time from a kill of a node, or a freeze of PostgreSQL, until everything worked as before. */
export interface Strike {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** When a change of a budget was asked for and answered. */
export interface Change {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}

/** One budget from its creation on: it is used up, then raised, and lowered to what it was. */
export interface ObservedStory {
  readonly name: string;
  readonly then: 'end' | 'refuse' | 'tell';
  readonly warnAt: readonly number[];
  readonly isExact: boolean;
  readonly isOfSession: boolean;
  readonly limit: number;
  readonly raisedTo: number;
  /** Undefined if it was never raised. */
  readonly raised: Change | undefined;
  /** Undefined if it was never lowered. */
  readonly lowered: Change | undefined;
  /** The session of the first account that was opened between the two; undefined if none was. */
  readonly another: ObservedSession | undefined;
  /** The first is the one for which creates are tried. */
  readonly accounts: readonly ObservedAccount[];
  /** Sessions that do not count for the budget. */
  readonly outsiders: readonly ObservedSession[];
  /** When the campaign saw that nothing was left of the first account. */
  readonly spentAtMs: number | undefined;
  readonly probes: readonly Probe[];
  readonly strikes: readonly Strike[];
}

/** Without an exact total, what all calls use in this time may come on top (docs/contract.md, section 3.1). */
const BURN_MS = 2000;
/** Every node knows a change within this time. */
const KNOWN_MS = 5000;

/** What went wrong with the consequences of a budget. */
export function faultsOf(story: ObservedStory): string[] {
  const faults: string[] = [];
  const say = (what: string): void => void faults.push(`${story.name}: ${what}`);
  for (const account of story.accounts) {
    judgeTold(story, account, say);
    judgeEvents(account, say);
    judgeEnds(story, account, say);
    judgeOvershoot(story, account, say);
  }
  for (const { id, endReason } of story.outsiders)
    if (endReason === 'quota_exceeded') say(`${id} was ended, and does not count`);
  judgeProbes(story, say);
  judgeLowered(story, say);
  return faults;
}

type Say = (what: string) => void;

/** The index of the entry that used up the limit; -1 while something is left. */
export function spentBy(entries: readonly Entry[], limit: number): number {
  let used = 0;
  return entries.findIndex(({ amount }) => (used += amount) >= limit);
}

/** Each threshold that is reached must be reported once (of several passed together only the highest), and no other. */
function judgeTold(story: ObservedStory, account: ObservedAccount, say: Say): void {
  const { warnAt, limit, raisedTo, raised, lowered, isOfSession } = story;
  const { name, facts, entries } = account;
  const raisedAtMs = raised?.askedAtMs ?? Infinity;
  const usedBefore = sumOf(entries.filter(({ atMs }) => atMs < raisedAtMs));
  const at = facts.findIndex(({ code }) => code === 'budget.raised');
  const isLater = ({ atMs }: BudgetFact): boolean => atMs >= raisedAtMs;
  const [first, later] =
    at === -1 ? [facts.filter((fact) => !isLater(fact)), facts.filter(isLater)] : [facts.slice(0, at), facts.slice(at)];
  const highest = reached(usedBefore, limit, warnAt);
  ascends(first, name, say);
  ascends(later, name, say);
  const told = first.at(-1)?.percent ?? 0;
  if (told !== highest) say(`of ${name} ${told} % was told, and ${highest} % reached (${usedBefore} of ${limit})`);
  if (first.some(({ code, percent }) => (code === 'budget.exceeded') !== (percent === 100)))
    say(`of ${name} a fact has the wrong percent`);
  if (raised === undefined) return;
  const loweredAtMs = lowered?.askedAtMs ?? Infinity;
  const now = reached(sumOf(entries), raisedTo, warnAt);
  // A session's next entry reports it.
  if (highest === 100 && now < 100 && !isOfSession && later[0]?.code !== 'budget.raised')
    say(`it was not told that ${name} was raised`);
  if (highest < 100 && at !== -1) say(`it was told that ${name} was raised, and it was not used up`);
  const most = Math.max(0, ...later.filter(({ atMs }) => atMs < loweredAtMs).map(({ percent }) => percent));
  if (most > now) say(`of ${name} ${most} % was told after it was raised, and ${now} % reached`);
  const again = later.filter(({ atMs }) => atMs >= loweredAtMs);
  const isSpent = reached(sumOf(entries), limit, warnAt) === 100;
  if (again.some(({ code }) => code === 'budget.exceeded') && !isSpent)
    say(`it was told that ${name} has nothing left since it was lowered, and something is left`);
  // It was raised so far that something was left, and lowered to where nothing is.
  if (lowered !== undefined && at !== -1 && isSpent && !isOfSession && again.at(-1)?.code !== 'budget.exceeded')
    say(`it was not told that ${name} has nothing left since it was lowered`);
}

function ascends(facts: readonly BudgetFact[], name: string, say: Say): void {
  for (const [n, { percent, code }] of facts.entries()) {
    const before = facts[n - 1];
    if (before !== undefined && before.percent >= percent)
      say(`of ${name} ${code} ${percent} % was told after ${before.percent} %`);
  }
}

function reached(used: number, limit: number, warnAt: readonly number[]): number {
  const percent = Math.floor((used / limit) * 100);
  return used >= limit ? 100 : Math.max(0, ...warnAt.filter((threshold) => threshold <= percent));
}

/** A receiver must get each fact under one id, and nothing else. */
function judgeEvents({ name, facts, events }: ObservedAccount, say: Say): void {
  const nameOf = ({ code, percent, atMs }: BudgetFact): string => `${code} ${percent} % at ${atMs}`;
  const left = new Map<string, number>();
  for (const fact of facts) left.set(nameOf(fact), (left.get(nameOf(fact)) ?? 0) + 1);
  const ids = new Map(events.map((event) => [event.webhookId, nameOf(event)]));
  for (const event of ids.values()) {
    const count = left.get(event) ?? 0;
    if (count === 0) say(`a receiver was told ${event} of ${name}, and the journal was not`);
    else left.set(event, count - 1);
  }
  for (const [fact, count] of left) if (count > 0) say(`a receiver was not told ${fact} of ${name}`);
}

function judgeEnds({ then, limit }: ObservedStory, { name, entries, sessions }: ObservedAccount, say: Say): void {
  const isSpent = spentBy(entries, limit) !== -1;
  for (const { id, endReason } of sessions) {
    const isEnded = endReason === 'quota_exceeded';
    if (isEnded && then !== 'end') say(`${id} was ended by ${name}, which only is to ${then}`);
    if (isEnded && !isSpent) say(`${id} was ended by ${name}, of which something is left`);
    if (endReason === null && isSpent && then === 'end') say(`${id} goes on, and nothing is left of ${name}`);
  }
}

/** After the limit is reached, one response of each live session may count; where totals are not exact, first what all use in two seconds. */
function judgeOvershoot(story: ObservedStory, { name, entries }: ObservedAccount, say: Say): void {
  if (story.then !== 'end') return;
  const at = spentBy(entries, story.limit);
  const spending = entries[at];
  if (spending === undefined) return;
  const graceMs = story.isExact ? 0 : BURN_MS;
  const after = entries
    .slice(at + 1)
    .filter(({ atMs }) => atMs > spending.atMs + graceMs && atMs < (story.raised?.askedAtMs ?? Infinity));
  const counts = new Map<string, Entry[]>();
  for (const entry of after) counts.set(entry.sessionId, [...(counts.get(entry.sessionId) ?? []), entry]);
  for (const [sessionId, own] of counts) {
    const lastMs = own.at(-1)?.atMs ?? 0;
    const strikes = story.strikes.filter(({ fromMs, untilMs }) => fromMs <= lastMs && untilMs >= spending.atMs).length;
    // A killed node could not end a session whose usage it had counted, and what no node heard meanwhile is counted by an estimate.
    const most = 1 + 2 * strikes;
    if (own.length > most)
      say(
        `${sessionId} has ${own.length} entries after nothing was left of ${name}, at most ${most} (${strikes} strikes)`,
      );
  }
}

function judgeProbes(
  { then, isOfSession, spentAtMs = Infinity, raised, lowered, probes }: ObservedStory,
  say: Say,
): void {
  const doesRefuse = then !== 'tell' && !isOfSession;
  const raiseAskedAtMs = raised?.askedAtMs ?? Infinity;
  for (const { askedAtMs, answeredAtMs, status, isRefused, counts } of probes) {
    const isAfter = askedAtMs >= spentAtMs + BURN_MS && answeredAtMs < raiseAskedAtMs;
    if (counts && doesRefuse && isAfter && status === 200)
      say(`a create was let in ${askedAtMs - spentAtMs} ms after nothing was left`);
    if (isRefused && !counts) say('a create was refused by it that does not count');
    if (isRefused && !doesRefuse) say(`a create was refused by it, which only is to ${then}`);
    const isOpen = raised !== undefined && answeredAtMs < (lowered?.askedAtMs ?? Infinity);
    if (isRefused && isOpen && askedAtMs > raised.answeredAtMs + KNOWN_MS)
      say(`a create was refused ${askedAtMs - raised.answeredAtMs} ms after it was raised`);
  }
  const opened = probes.some(
    ({ askedAtMs, status, counts }) => counts && status === 200 && askedAtMs >= raiseAskedAtMs,
  );
  if (raised !== undefined && !opened) say('no create was let in after it was raised');
}

/** What is used is more than what the budget was lowered to. */
function judgeLowered({ then, isOfSession, lowered, another, probes }: ObservedStory, say: Say): void {
  if (lowered === undefined || isOfSession) return;
  const after = probes.filter(({ counts, askedAtMs }) => counts && askedAtMs > lowered.answeredAtMs + KNOWN_MS);
  if (then !== 'tell' && after.some(({ status }) => status === 200)) say('a create was let in after it was lowered');
  const isEnded = another?.endReason === 'quota_exceeded';
  if (another?.endReason === null && then === 'end') say(`${another.id} goes on after it was lowered`);
  if (isEnded && then !== 'end') say(`${another.id} was ended when it was lowered, which only is to ${then}`);
}

function sumOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { amount }) => sum + amount, 0);
}
