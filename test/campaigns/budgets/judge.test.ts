import { expect, test } from 'vitest';
import { faultsOf, spentBy, type ObservedAccount, type ObservedStory, type BudgetFact } from './judge.ts';

const entry = (atMs: number, amount: number, sessionId = 's1') => ({ atMs, amount, sessionId });
const warned = (percent: number, atMs: number): BudgetFact => ({ code: 'budget.warned', percent, atMs });
const exceeded: BudgetFact = { code: 'budget.exceeded', percent: 100, atMs: 300 };
const raised: BudgetFact = { code: 'budget.raised', percent: 40, atMs: 9000 };
const eventsOf = (facts: readonly BudgetFact[]) => facts.map((fact, n) => ({ ...fact, webhookId: `evt_${n}` }));

const again: BudgetFact = { ...exceeded, atMs: 20_100 };

const facts = [warned(40, 100), warned(80, 200), exceeded, raised, again];
const account: ObservedAccount = {
  name: 'tenant:acme',
  entries: [entry(100, 50), entry(200, 30, 's2'), entry(300, 20), entry(400, 5, 's2')],
  sessions: [
    { id: 's1', endReason: 'quota_exceeded' },
    { id: 's2', endReason: 'quota_exceeded' },
  ],
  facts,
  events: eventsOf(facts),
};
const probe = { askedAtMs: 5000, answeredAtMs: 5010, status: 429, isRefused: true, counts: true };
const reopened = { ...probe, askedAtMs: 9200, answeredAtMs: 9210, status: 200, isRefused: false };
const closed = { ...probe, askedAtMs: 20_200, answeredAtMs: 20_210 };
const good: ObservedStory = {
  name: 'b',
  then: 'end',
  warnAt: [40, 80],
  isExact: true,
  isOfSession: false,
  limit: 100,
  raisedTo: 200,
  raised: { askedAtMs: 9000, answeredAtMs: 9100 },
  lowered: { askedAtMs: 20_000, answeredAtMs: 20_050 },
  another: { id: 's5', endReason: 'quota_exceeded' },
  accounts: [account],
  outsiders: [{ id: 's9', endReason: null }],
  spentAtMs: 310,
  probes: [probe, reopened, closed],
  strikes: [],
};

const ofAccount = (changes: Partial<ObservedAccount>): Partial<ObservedStory> => ({
  accounts: [{ ...account, ...changes }],
});
const told = (all: readonly BudgetFact[]) => ofAccount({ facts: all, events: eventsOf(all) });
/** It was raised, and never lowered. */
const never: Partial<ObservedStory> = { lowered: undefined, another: undefined, probes: [probe, reopened] };
/** What was opened before it was lowered goes on. */
const anotherGoesOn: Partial<ObservedStory> = { another: { id: 's5', endReason: null } };
const goingOn = account.sessions.map(({ id }) => ({ id, endReason: null }));

test('A budget of which all was told once, and whose sessions ended in time, is not complained of', () => {
  expect(faultsOf(good)).toEqual([]);
  expect(spentBy(account.entries, 100)).toBe(2);
  expect(spentBy(account.entries, 106)).toBe(-1);
});

test('Of two thresholds that are passed together the higher alone is told', () => {
  expect(faultsOf({ ...good, ...told([exceeded, raised, again]) })).toEqual([]);
});

test.each<[string, Partial<ObservedStory>, string[]]>([
  [
    'was told of twice',
    told([warned(40, 100), warned(40, 150), exceeded, raised, again]),
    ['of tenant:acme budget.warned 40 % was told after 40 %'],
  ],
  [
    'was not told of',
    { ...told([warned(40, 100), warned(80, 200)]), ...never },
    ['of tenant:acme 80 % was told, and 100 % reached (105 of 100)', 'it was not told that tenant:acme was raised'],
  ],
  [
    'was told of and not reached',
    { ...ofAccount({ entries: [entry(100, 50)], sessions: goingOn }), probes: [reopened] },
    [
      'of tenant:acme 100 % was told, and 40 % reached (50 of 100)',
      'it was told that tenant:acme was raised, and it was not used up',
      'of tenant:acme 40 % was told after it was raised, and 0 % reached',
      'it was told that tenant:acme has nothing left since it was lowered, and something is left',
    ],
  ],
  [
    'was raised and not told so',
    { ...told(facts.slice(0, 3)), ...never },
    ['it was not told that tenant:acme was raised'],
  ],
  [
    'was lowered and not told so',
    told(facts.slice(0, 4)),
    ['it was not told that tenant:acme has nothing left since it was lowered'],
  ],
  ['goes on after it was lowered', anotherGoesOn, ['s5 goes on after it was lowered']],
  [
    'was ended when it was lowered, by what only refuses',
    { then: 'refuse', ...ofAccount({ sessions: goingOn }) },
    ['s5 was ended when it was lowered, which only is to refuse'],
  ],
  [
    'was let in after it was lowered',
    {
      probes: [probe, reopened, { ...closed, askedAtMs: 30_000, answeredAtMs: 30_010, status: 200, isRefused: false }],
    },
    ['a create was let in after it was lowered'],
  ],
  [
    'a receiver was not told of',
    ofAccount({ events: eventsOf(facts).slice(1) }),
    ['a receiver was not told budget.warned 40 % at 100 of tenant:acme'],
  ],
  [
    'a receiver was told of under two ids',
    ofAccount({ events: [...eventsOf(facts), { ...exceeded, webhookId: 'evt_9' }] }),
    ['a receiver was told budget.exceeded 100 % at 300 of tenant:acme, and the journal was not'],
  ],
  [
    'goes on',
    ofAccount({ sessions: [{ id: 's1', endReason: null }] }),
    ['s1 goes on, and nothing is left of tenant:acme'],
  ],
  [
    'was ended by what only tells',
    { then: 'tell', probes: [reopened], ...anotherGoesOn },
    ['s1 was ended by tenant:acme, which only is to tell', 's2 was ended by tenant:acme, which only is to tell'],
  ],
  [
    'was ended and does not count',
    { outsiders: [{ id: 's9', endReason: 'quota_exceeded' }] },
    ['s9 was ended, and does not count'],
  ],
  [
    'used something twice after nothing was left',
    ofAccount({ entries: [...account.entries, entry(500, 1, 's2')] }),
    ['s2 has 2 entries after nothing was left of tenant:acme, at most 1 (0 strikes)'],
  ],
  [
    'was let in when nothing was left',
    { probes: [{ ...probe, status: 200, isRefused: false }, reopened] },
    ['a create was let in 4690 ms after nothing was left'],
  ],
  [
    'was refused by what only tells',
    { then: 'tell', probes: [probe, reopened], ...ofAccount({ sessions: goingOn }), ...anotherGoesOn },
    ['a create was refused by it, which only is to tell'],
  ],
  [
    'was refused and does not count',
    { probes: [{ ...probe, counts: false }, reopened] },
    ['a create was refused by it that does not count'],
  ],
  [
    'was refused long after it was raised',
    { probes: [reopened, { ...probe, askedAtMs: 15_000, answeredAtMs: 15_010 }] },
    ['a create was refused 5900 ms after it was raised'],
  ],
  ['was never let in again', { probes: [probe, closed] }, ['no create was let in after it was raised']],
])('What %s is complained of', (_, changes, faults) => {
  expect(faultsOf({ ...good, ...changes })).toEqual(faults.map((fault) => `b: ${fault}`));
});

test('What is used in two seconds may come on top where others are known a second later, and what a strike kept from ending', () => {
  const burning = ofAccount({ entries: [...account.entries, entry(500, 1, 's2'), entry(2200, 1, 's2')] });
  expect(faultsOf({ ...good, ...burning, isExact: false })).toEqual([]);
  expect(faultsOf({ ...good, ...burning, strikes: [{ fromMs: 290, untilMs: 2000 }] })).toEqual([]);
  expect(faultsOf({ ...good, ...burning, strikes: [{ fromMs: 3000, untilMs: 4000 }] })).toHaveLength(1);
});

test('A session that has used up its own budget keeps nobody from opening another, and is told of no raise', () => {
  const story: Partial<ObservedStory> = { isOfSession: true, probes: [reopened], ...told(facts.slice(0, 3)) };
  expect(faultsOf({ ...good, ...story })).toEqual([]);
});
