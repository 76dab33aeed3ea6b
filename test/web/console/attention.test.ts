import { describe, expect, test } from 'vitest';
import { whatHappened } from '../../../src/operators/overview/changes-routes.ts';
import { whatStandsOut } from '../../../src/web/console/data/attention.ts';
import { oddNodes } from '../../../src/web/console/data/nodes.ts';
import { askedRange, dayIn, everyDay } from '../../../src/web/console/data/usage-range.ts';
import type { Dependency, Node, Overview } from '../../../src/web/console/data/shapes.ts';
import { actOf, howMuch, whereMoved } from '../../../src/web/console/labels/changes.ts';

const AT = '2030-01-01T12:00:00.000Z';
const none = { started: 0, ended: {}, refused: {} };
const quiet = { ...none, previous: none };

function dependency(name: Dependency['name'], state: Dependency['state'] = 'ok'): Dependency {
  return { name, state, latencyMs: 2, since: AT, lastError: null };
}

function node(id: string, fields: Partial<Node> = {}): Node {
  return {
    id,
    host: 'voice',
    pid: 1,
    version: '0.1.0',
    startedAt: AT,
    seenAt: AT,
    loopP99Ms: 4,
    rss: 1,
    sockets: 0,
    historyWaiting: 0,
    eventsWaiting: 0,
    eventsDropped: 0,
    configHash: 'same',
    dependencies: [dependency('database')],
    ...fields,
  };
}

function overview(fields: Partial<Overview> = {}): Overview {
  return {
    byState: { engaged: 0, idle: 0, stale: 0, ended: 0 },
    byCaller: { widget: 0, console: 0 },
    byTenant: {},
    spend: null,
    asOf: AT,
    endingSoon: 0,
    unexplainedDollars: 0,
    reconciledAt: null,
    webhooks: { failing: 0, disabled: 0 },
    lateHangups: 0,
    activity: { minute: quiet, hour: { ...quiet, usual: null }, day: quiet },
    verdict: { us: 'fine', provider: 'fine', sentence: 'Provider: fine. Us: fine.' },
    dependencies: [],
    nodes: [node('a'), node('b')],
    ...fields,
  };
}

const sentences = (fields: Partial<Overview>): readonly string[] =>
  whatStandsOut(overview(fields)).map(({ degree, sentence }) => `${degree}: ${sentence}`);

describe('The overview says what stands out', () => {
  test('nothing, if all is well', () => {
    expect(sentences({})).toEqual([]);
  });

  test('errors before warnings, and for which processes', () => {
    const away = [dependency('database', 'away')];
    const nodes = [
      node('a', { eventsDropped: 3 }),
      node('bbbbbbbb', { dependencies: away }),
      node('c', { loopP99Ms: 180, configHash: 'other' }),
    ];
    expect(sentences({ nodes })).toEqual([
      'wrong: The database is away for voice bbbbbb',
      'wrong: The event loop of voice c is 180 ms late',
      'watch: 3 events were dropped since the start',
      'watch: Processes are set differently',
    ]);
  });

  test('calls that cannot be hung up, with a link to them, even while they cannot be counted', () => {
    expect(sentences({ lateHangups: 1 })).toEqual([
      'wrong: 1 call is still closing after 10 s, without a confirmed hang-up: the provider may go on billing',
    ]);
    expect(whatStandsOut(overview({ lateHangups: 1200 }))).toMatchObject([
      { sentence: expect.stringMatching(/^1,200 calls are still closing/), href: '/console/calls?state=closing' },
    ]);
    expect(sentences({ lateHangups: null })).toEqual([]);
  });

  test('differences between the provider’s bill and the counts', () => {
    expect(sentences({ unexplainedDollars: 9.034 })).toEqual([
      'wrong: The provider’s bill of the last three days differs by $9.03, unexplained',
    ]);
    expect(sentences({ unexplainedDollars: null })).toEqual([]);
  });

  test('a provider that has not said for two days what it bills', () => {
    const asOf = '2030-01-05T07:00:00.000Z';
    expect(sentences({ asOf, reconciledAt: '2030-01-03T07:00:00.001Z' })).toEqual([]);
    expect(sentences({ asOf, reconciledAt: '2030-01-03T07:00:00.000Z' })).toEqual([
      'wrong: The provider has not said for 2 days what it bills: check OPENAI_ADMIN_KEY, and the log for `reconciliation`',
    ]);
  });

  test('failing webhooks as warnings, and those that were given up as errors', () => {
    expect(whatStandsOut(overview({ webhooks: { failing: 1, disabled: 2 } }))).toMatchObject([
      { degree: 'wrong', sentence: '2 webhooks were given up: nothing is sent until somebody enables it' },
      { degree: 'watch', sentence: '1 webhook fails: what is to be told waits', href: '/console/webhooks' },
    ]);
    expect(sentences({ webhooks: null })).toEqual([]);
  });

  test('a store whose clock was set', () => {
    expect(sentences({ nodes: [node('a', { clockLeadMs: 40 }), node('b', { clockLeadMs: -19_970 })] })).toEqual([
      "watch: The live store's clock was set and is not followed: it is 20 s ahead of the time in use",
    ]);
  });

  test('nothing about the provider, which has a verdict of its own', () => {
    const nodes = [node('a', { dependencies: [dependency('provider', 'away')] })];
    expect(sentences({ nodes })).toEqual([]);
    expect(sentences({ nodes, verdict: null })).toEqual(['wrong: The provider is away for every process']);
  });

  test('a ceiling that is or will be reached, and by whom first', () => {
    const atCeiling = [{ subject: '7f3a1c0e8b7d2a49c3b6e5f0a1d2c3b4', at: AT }];
    const spend = { tokens: 1, dollars: 5, ceiling: 10, projected: 12, atCeiling, budgets: [], totals: [] };
    expect(sentences({ spend })).toEqual([
      'watch: At this pace today costs $12.00, more than its ceiling of $10.00',
      'watch: Subject 7f3a…c3b4 reaches its ceiling at',
    ]);
    expect(sentences({ spend: { ...spend, dollars: 10, atCeiling: null } })).toEqual([
      "wrong: Today's ceiling of $10.00 is reached",
    ]);
  });

  test('budgets that are or will be used up', () => {
    const budgets = [
      { tenantId: null, id: 'all', percent: 100, at: null },
      { tenantId: 'acme', id: 'month', percent: 90, at: AT },
    ];
    const spend = { tokens: 1, dollars: 5, ceiling: null, projected: 12, atCeiling: [], budgets, totals: [] };
    expect(sentences({ spend })).toEqual([
      'wrong: The budget all of the installation is used up',
      'watch: The budget month of acme is used up at this pace at',
    ]);
    expect(whatStandsOut(overview({ spend }))[1]).toMatchObject({ href: '/console/budgets?tenantId=acme', at: AT });
  });

  test('daily ceilings of keys and tenants that are or will be used up', () => {
    const totals = [
      { tenantId: 'acme', keyId: 'site', percent: 104, at: null },
      { tenantId: 'acme', keyId: null, percent: 80, at: AT },
    ];
    const spend = { tokens: 1, dollars: 5, ceiling: null, projected: 12, atCeiling: [], budgets: [], totals };
    expect(whatStandsOut(overview({ spend }))).toEqual([
      {
        degree: 'wrong',
        sentence: 'The daily ceiling of the key site of acme is used up: visitors are refused until midnight',
        href: '/console/keys/acme/site',
      },
      {
        degree: 'watch',
        sentence: 'The daily ceiling of acme is used up at this pace at',
        at: AT,
        href: '/console/usage?by=key&tenantId=acme',
      },
    ]);
  });

  test('refusals and ends at three times the usual rate, if there are ten; never ends on request or by the clock', () => {
    const usual = { started: 0, refused: { BOT_BLOCKED: 10, RATE_LIMIT_EXCEEDED: 10 }, ended: { create_failed: 2 } };
    const hour = {
      started: 0,
      refused: { BOT_BLOCKED: 30, ORIGIN_MISMATCH: 9, RATE_LIMIT_EXCEEDED: 29 },
      ended: { create_failed: 30, closed_by_client: 900 },
      previous: { started: 0, refused: { BOT_BLOCKED: 30 }, ended: { create_failed: 30 } },
      usual,
    };
    const of = (changed: object) =>
      whatStandsOut(overview({ activity: { minute: quiet, hour: { ...hour, ...changed }, day: quiet } }));
    expect(of({})).toEqual([
      {
        degree: 'watch',
        sentence: 'Refused more than is usual at this time: BOT_BLOCKED 30 (usually 10)',
        href: '/console/refusals?code=BOT_BLOCKED&from=-1h',
      },
      {
        degree: 'watch',
        sentence: 'Ended more than is usual at this time: create failed 30 (usually 2)',
        href: '/console/sessions?reason=create_failed&sort=-endedAt',
      },
    ]);
    expect(of({ usual: null, previous: usual }).map(({ sentence }) => sentence)).toEqual([
      'Refused more than in the hour before: BOT_BLOCKED 30 (was 10)',
      'Ended more than in the hour before: create failed 30 (was 2)',
    ]);
  });
});

describe('Processes differ', () => {
  const versionOf = ({ version }: Node): string => version;

  test('from most of the others', () => {
    const nodes = [node('new', { version: '0.1.1' }), node('a'), node('b')];
    expect([...oddNodes(nodes, versionOf)]).toEqual(['new']);
  });

  test('from the one that started first, if there are two', () => {
    expect([...oddNodes([node('a'), node('b', { version: '0.1.1' })], versionOf)]).toEqual(['b']);
  });
});

describe('A change in a count', () => {
  test('is shown in percent, and links to what was counted', () => {
    const moved = { what: 'sessions ended (create_failed)', now: 7, before: 20, factor: 0.35 };
    expect(howMuch(moved)).toBe('−65 %');
    expect(howMuch({ ...moved, factor: null })).toBe('new');
    expect(whereMoved(moved, '-24h')).toBe('/console/sessions?reason=create_failed&sort=-endedAt');
    expect(whereMoved({ ...moved, what: 'BOT_BLOCKED' }, '-7d')).toBe('/console/refusals?code=BOT_BLOCKED&from=-7d');
    expect(whereMoved({ ...moved, what: 'requests' }, '-7d')).toBeUndefined();
  });
});

describe('An operator’s act', () => {
  test('is read from the service’s sentence, whoever did it and whatever its target', () => {
    const acts = [
      { actor: 'ann@acme.example', action: 'key.issue' as const, target: 'acme/shop' },
      { actor: 'service:31ea87', action: 'sessions.end' as const, target: 'state=engaged&tenantId=acme' },
    ];
    const told = acts.map((act, ms) => ({ ...act, atMs: ms }));
    const sentences = whatHappened([], [], told).map(({ sentence }) => sentence);
    expect(sentences.map(actOf)).toEqual(acts.toReversed());
    expect(actOf('A process started on vm: 0.1.0 → 0.1.1.')).toBeUndefined();
  });
});

describe('Times of usage', () => {
  const atMs = Date.parse(AT);

  test('name the day in the service’s timezone', () => {
    expect(dayIn('UTC', atMs)).toBe('2030-01-01');
    expect(dayIn('Pacific/Kiritimati', atMs)).toBe('2030-01-02');
  });

  test('are requested as instants within the chosen day', () => {
    expect(askedRange({ from: '2029-12-30', to: '2029-12-30' }, atMs)).toEqual({
      from: '2029-12-30T12:00:00.000Z',
      to: '2029-12-30T12:00:00.001Z',
    });
    expect(askedRange({ from: '-7d' }, atMs)).toEqual({ from: '2029-12-25T12:00:00.000Z', to: undefined });
  });

  test('include every day, even without usage', () => {
    const series = everyDay([{ at: '2029-12-31', tokens: 5, dollars: 1 }], { from: '-2d' }, atMs);
    expect(series.map(({ at, tokens }) => `${at} ${tokens}`)).toEqual(['2029-12-30 0', '2029-12-31 5', '2030-01-01 0']);
  });
});
