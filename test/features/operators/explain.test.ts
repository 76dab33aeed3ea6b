import { describe, expect, test } from 'vitest';
import { END_REASONS, type EndReason } from '../../../machines/voice-session/end-reasons.ts';
import type { VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import { CLOSE_REASONS, type CloseReason } from '../../../machines/voice-call/close-reasons.ts';
import type { NewEntry } from '../../../src/stores/journal/contract.ts';
import { explain } from '../../../src/operators/sessions/explain.ts';
import type { SessionFacts, QuotaFacts } from '../../../src/operators/sessions/explain-facts.ts';
import { DAY_BEGIN, voiceRecord } from '../../contracts/support.ts';
import { call as aCall } from '../../contracts/voice-calls.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

function known(record: Partial<VoiceRecord> = {}, more: Partial<SessionFacts> = {}): SessionFacts {
  return {
    record: voiceRecord(record),
    limits: { maxMinutes: 15, maxIdleSec: 300, staleGraceSec: 3600, staleReapSec: 3600 },
    heartbeatIntervalSec: 45,
    callLimits: { graceSec: 30, unheardSec: 20 },
    atMs: DAY_BEGIN,
    calls: [],
    meters: [],
    events: [],
    lost: [],
    used: { tokens: 100, microDollars: 5 },
    act: undefined,
    quotas: [],
    ...more,
  };
}

/** Fields of an entry in the journal that these tests do not look at. */
const seen = { id: 'entry', node: 'n1', requestId: null, of: {} } as const;

/** A session that was alive until it ended. */
function ended(
  endReason: EndReason,
  afterMs: number,
  more: Partial<SessionFacts> = {},
  record: Partial<VoiceRecord> = {},
) {
  const endedAtMs = DAY_BEGIN + afterMs;
  return known({ endReason, endedAtMs, lastSeenAtMs: endedAtMs, lastActivityAtMs: endedAtMs, ...record }, more);
}

const call = aCall({
  id: 'call_1',
  provider: 'openai',
  state: 'closed',
  openedAtMs: DAY_BEGIN,
  closedAtMs: DAY_BEGIN + MINUTE,
  closeReason: 'remote',
  hangup: 'already_over',
  hangupTries: 1,
  giveUpAtMs: null,
});

const quota: QuotaFacts = {
  whose: 'the caller',
  used: { tokens: 300_100, microDollars: 4_200_000 },
  ceilings: { dailyTokens: 300_000, dailyMicroDollars: 20_000_000 },
  setBy: { tokens: 'WIDGET_MAX_TOKENS_DAILY', dollars: 'WIDGET_MAX_DOLLARS_DAILY' },
};

const act: NewEntry<'act'> = {
  ...seen,
  kind: 'act',
  atMs: DAY_BEGIN,
  requestId: 'req_1',
  of: { actor: 'ops@example.com', target: 't', tenantId: 'acme' },
  code: 'session.end',
  detail: { role: 'operator', reason: 'abuse', result: 'done', count: null },
};

/** For each reason of an end: what is known of the session, and the sentence that explains it. A new reason needs a row. */
const ends: Readonly<Record<EndReason, readonly [known: SessionFacts, sentence: string]>> = {
  duration_exceeded: [
    ended('duration_exceeded', 15 * MINUTE),
    'Ended 2030-01-01 00:15:00 UTC, because 15 min (MAX_SESSION_MINUTES) were over.',
  ],
  idle_exceeded: [
    ended('idle_exceeded', 10 * MINUTE, {}, { lastActivityAtMs: DAY_BEGIN + MINUTE }),
    'Ended 2030-01-01 00:10:00 UTC by a heartbeat that came after 9 min without activity, which is more than 300 s (MAX_SESSION_IDLE_SEC).',
  ],
  quota_exceeded: [
    ended('quota_exceeded', MINUTE, { quotas: [quota] }),
    'Ended 2030-01-01 00:01:00 UTC, because its usage carried a total of the day over its ceiling: the caller has used 300100 of 300000 tokens (WIDGET_MAX_TOKENS_DAILY).',
  ],
  closed_by_client: [
    ended('closed_by_client', 90 * SECOND),
    'Ended 2030-01-01 00:01:30 UTC, because its client asked for that, 90 s after it began.',
  ],
  closed_by_operator: [
    ended('closed_by_operator', MINUTE, { act }),
    'Ended 2030-01-01 00:01:00 UTC by ops@example.com, who wrote “abuse” (request req_1).',
  ],
  key_revoked: [
    ended('key_revoked', MINUTE, {
      act: { ...act, code: 'key.revoke', detail: { ...act.detail, reason: null }, requestId: null },
    }),
    'Ended 2030-01-01 00:01:00 UTC, because its widget key acme/acme-site was revoked by ops@example.com, who gave no reason.',
  ],
  upstream_ended: [
    ended('upstream_ended', 90 * SECOND, { calls: [call] }),
    'Ended 2030-01-01 00:01:30 UTC, because its page left the call or lost its network, and no other followed within 30 s (CALL_GRACE_SEC), or while another page could resume it (call call_1).',
  ],
  closed_by_tool: [
    ended('closed_by_tool', MINUTE, { calls: [{ ...call, closeReason: 'tool_ended' }] }),
    'Ended 2030-01-01 00:01:00 UTC, because a tool of its agent ended it: call call_1 names it.',
  ],
  create_failed: [
    ended('create_failed', 0),
    'Ended 2030-01-01 00:00:00 UTC by Switchboard itself, because a store failed while it was opened; the create was refused, and nobody has its secret.',
  ],
  abandoned: [
    ended('abandoned', 7201 * SECOND, {}, { lastSeenAtMs: DAY_BEGIN, lastActivityAtMs: DAY_BEGIN }),
    'Ended 2030-01-01 02:00:01 UTC, because nothing was heard for 2 h 0 min: 3600 s (STALE_GRACE_SEC) until it was stale, then 3600 s (STALE_REAP_SEC).',
  ],
};

const settled = (afterSec: number): Partial<VoiceRecord> => ({ settledAtMs: DAY_BEGIN + afterSec * SECOND });
const lateActivity = { lastActivityAtMs: DAY_BEGIN + 14 * MINUTE, ...settled(14 * 60) };

const opens: readonly [
  state: VoiceState | 'engaged to the end' | 'engaged until words are due',
  known: SessionFacts,
  sentence: string,
][] = [
  [
    'engaged',
    known(),
    'Still open: it goes idle 2030-01-01 00:05:01 UTC, unless somebody is heard within 300 s (MAX_SESSION_IDLE_SEC), and ends 2030-01-01 00:15:00 UTC at the latest, when 15 min (MAX_SESSION_MINUTES) are over.',
  ],
  [
    'engaged to the end',
    known(lateActivity),
    'Still open: it ends 2030-01-01 00:15:00 UTC, when 15 min (MAX_SESSION_MINUTES) are over.',
  ],
  [
    'engaged until words are due',
    known({ wordsDueAtMs: DAY_BEGIN + MINUTE }),
    'Still open: it ends 2030-01-01 00:01:00 UTC, unless its new visitor says or writes something within 60 s (limits.newVisitorSeconds of the key acme/acme-site).',
  ],
  [
    'idle',
    known(settled(301)),
    'Still open and idle: nothing was heard for more than 300 s (MAX_SESSION_IDLE_SEC). A heartbeat ends it; without one it is stale 2030-01-01 01:00:01 UTC, after 3600 s (STALE_GRACE_SEC).',
  ],
  [
    'stale',
    known(settled(3601)),
    'Still open and stale: nothing was heard for more than 3600 s (STALE_GRACE_SEC). A heartbeat ends it; without one it is closed as abandoned 2030-01-01 02:00:01 UTC, after 3600 s more (STALE_REAP_SEC).',
  ],
];

describe('Why a session ended is told', () => {
  test.each(Object.entries(ends))('in a sentence for %s', (reason, [what, sentence]) => {
    expect(what.record.endReason).toBe(reason);
    expect(explain(what).sentence).toBe(sentence);
  });

  test('for every reason that there is, and for none by an empty word', () => {
    expect(Object.keys(ends).toSorted()).toEqual(Object.keys(END_REASONS).toSorted());
    for (const [what] of Object.values(ends)) expect(explain(what).sentence).not.toMatch(/undefined|null|NaN/);
  });

  test('by its name, where only a later version knows more', () => {
    const later = ended('later_reason' as EndReason, MINUTE);
    expect(explain(later).sentence).toBe('Ended 2030-01-01 00:01:00 UTC: later reason.');
    const closeReason = 'later_reason' as CloseReason;
    const cut = ended('upstream_ended', MINUTE, { calls: [{ ...call, closeReason }] });
    expect(explain(cut).sentence).toBe('Ended 2030-01-01 00:01:00 UTC, because later reason (call call_1).');
  });

  test('with the call that took it along, for every way in which a call ends its session', () => {
    const sentences = (Object.keys(CLOSE_REASONS) as CloseReason[])
      .filter((reason) => CLOSE_REASONS[reason].session !== 'goes on')
      .map((closeReason) => explain(ended('upstream_ended', MINUTE, { calls: [{ ...call, closeReason }] })).sentence);
    expect(new Set(sentences).size).toBe(sentences.length);
    for (const sentence of sentences) expect(sentence).toContain('(call call_1)');
    expect(sentences.join()).toContain('20 s (SIDEBAND_LOST_SEC)');
    expect(explain(ended('upstream_ended', MINUTE)).sentence).toContain('because the provider ended it.');
  });

  test('by the words that a new visitor did not say', () => {
    const due = { wordsDueAtMs: DAY_BEGIN + MINUTE };
    const silent = ended('duration_exceeded', MINUTE, {}, due);
    expect(explain(silent).sentence).toBe(
      'Ended 2030-01-01 00:01:00 UTC, because its new visitor had said and written nothing in 60 s (limits.newVisitorSeconds of the key acme/acme-site).',
    );
    expect(explain(silent).facts.join()).not.toContain('MAX_SESSION_MINUTES');
    expect(explain(ended('closed_by_client', 30 * SECOND, {}, due)).sentence).toContain('its client asked for that');
  });

  test('without somebody whom the audit does not know', () => {
    expect(explain(ended('closed_by_operator', 0)).sentence).toContain('the audit has no row of it');
    expect(explain(ended('key_revoked', 0)).sentence).toContain('TENANTS_FILE');
  });

  test('with every ceiling that was reached, of the caller and of the key, and those that were raised since', () => {
    const ofKey: QuotaFacts = {
      ...quota,
      whose: 'the widget key',
      ceilings: { dailyTokens: Infinity, dailyMicroDollars: 4_000_000 },
      setBy: { tokens: 'totals.tokensDaily of the key', dollars: 'totals.dollarsDaily of the key' },
    };
    expect(explain(ended('quota_exceeded', 0, { quotas: [quota, ofKey] })).sentence).toMatch(
      /the caller has used 300100 of 300000 tokens .*, the widget key has used \$4\.20 of \$4\.00 \(totals\.dollarsDaily of the key\)\.$/,
    );
    const raised = { ...quota, ceilings: { dailyTokens: 400_000, dailyMicroDollars: Infinity } };
    expect(explain(ended('quota_exceeded', 0, { quotas: [raised] })).sentence).toContain(
      'the caller may now use 400000 tokens (WIDGET_MAX_TOKENS_DAILY)',
    );
  });
});

describe('Of a session that is still open is told', () => {
  test.each(opens)('in a sentence what comes next while it is %s', (_, what, sentence) => {
    expect(explain(what).sentence).toBe(sentence);
  });
});

describe('Beside the reason is told', () => {
  const factsOf = (what: SessionFacts): string => explain(what).facts.join('\n');

  test('when it was opened, and when it was last heard of', () => {
    expect(explain(ended('closed_by_client', MINUTE)).facts).toEqual([
      'Opened 2030-01-01 00:00:00 UTC, lasted 60 s; last heartbeat 2030-01-01 00:01:00 UTC, last activity 2030-01-01 00:01:00 UTC.',
    ]);
  });

  test('that its client was silent for more than two intervals, and nothing of a shorter silence', () => {
    const silent = (ms: number) =>
      ended('closed_by_operator', 5 * MINUTE, {}, { lastSeenAtMs: DAY_BEGIN + 5 * MINUTE - ms });
    expect(factsOf(silent(91 * SECOND))).toMatch(/silent for 91 s, .* every 45 s \(HEARTBEAT_INTERVAL_SEC\)/);
    expect(factsOf(silent(90 * SECOND))).not.toContain('silent');
    expect(factsOf(known({}, { atMs: DAY_BEGIN + 91 * SECOND }))).toContain('has been silent for 91 s');
  });

  test('that a limit is another one now', () => {
    expect(factsOf(ended('duration_exceeded', 10 * MINUTE))).toContain('MAX_SESSION_MINUTES is 15 now');
    expect(factsOf(ended('duration_exceeded', 15 * MINUTE))).not.toContain('MAX_SESSION_MINUTES');
  });

  test('that what was due was found late, or still is not', () => {
    const found = (ms: number) =>
      ended('duration_exceeded', 15 * MINUTE, {
        events: [
          {
            ...seen,
            kind: 'transition',
            code: 'CLOCK',
            atMs: DAY_BEGIN + 15 * MINUTE + ms,
            detail: { change: 'ended', from: 'engaged', to: 'ended', steps: [], guards: [], version: 2, record: {} },
          },
        ],
      });
    expect(factsOf(found(60 * SECOND))).toContain('found 2030-01-01 00:16:00 UTC, 60 s later, by CLOCK on node n1');
    expect(factsOf(found(2 * SECOND))).not.toContain('later');
    expect(factsOf(known({}, { atMs: DAY_BEGIN + 400 * SECOND }))).toContain(
      'the clock that follows deadlines is late',
    );
    expect(factsOf(known({}, { atMs: DAY_BEGIN + 302 * SECOND }))).not.toContain('late');
  });

  test('that its last socket closed before the end, and that no usage was reported', () => {
    const note = (kind: 'attached' | 'detached', afterMs: number, code = 1006) =>
      ({ ...seen, kind: 'note', code: kind, atMs: DAY_BEGIN + afterMs, detail: { code } }) as const;
    const attached = note('attached', 0);
    const closed = note('detached', 60 * SECOND);
    const of = (...events: SessionFacts['events']) => factsOf(ended('abandoned', 100 * SECOND, { events }));
    expect(of(closed, attached)).toContain(
      'Its last socket closed 2030-01-01 00:01:00 UTC, 40 s before the end, with 1006, which is a connection that was cut off.',
    );
    expect(of(note('detached', 60 * SECOND, 1001), attached)).toContain('40 s before the end, with 1001.');
    expect(factsOf(known({}, { events: [closed, attached], atMs: DAY_BEGIN + 70 * SECOND }))).toContain('10 s ago');
    for (const events of [
      [note('attached', 61 * SECOND), closed, attached],
      [closed, attached, attached],
      [note('detached', 100 * SECOND, 4403), attached],
      [],
    ])
      expect(of(...events)).not.toContain('last socket');
    const silent = 'Its client reported no usage.';
    expect(factsOf(ended('closed_by_client', 10 * SECOND, { used: undefined }))).toContain(silent);
    expect(factsOf(ended('closed_by_client', 9 * SECOND, { used: undefined }))).not.toContain(silent);
    expect(factsOf(ended('closed_by_client', 10 * SECOND))).not.toContain(silent);
  });

  test('that its client was warned of an end by the clock', () => {
    const warned = (limit: string, secondsLeft: number) =>
      ({ ...seen, kind: 'note', code: 'warned', atMs: DAY_BEGIN, detail: { limit, secondsLeft } }) as const;
    const events = [warned('duration', 10), warned('duration', 60), warned('idle', 30)];
    expect(factsOf(ended('duration_exceeded', 15 * MINUTE, { events }))).toContain(
      'Its client was warned 60 s and 10 s before.',
    );
    expect(factsOf(ended('duration_exceeded', 15 * MINUTE))).not.toContain('warned');
    const silent = ended('duration_exceeded', MINUTE, { events }, { wordsDueAtMs: DAY_BEGIN + MINUTE });
    expect(factsOf(silent)).toContain('Its client was warned 30 s before.');
    expect(factsOf(ended('closed_by_client', MINUTE, { events }))).not.toContain('warned');
  });

  test('what became of its calls, and whether the provider may still bill one', () => {
    const calls = [{ ...call, hangup: 'unconfirmed' as const }];
    expect(factsOf(ended('closed_by_client', 100 * SECOND, { calls }))).toMatch(
      /Call call_1 closed 2030-01-01 00:01:00 UTC \(remote\), 40 s before the end\.\n.*never confirmed/,
    );
    const open = { ...call, state: 'closing' as const, closedAtMs: null, unheardSinceMs: DAY_BEGIN, hangupTries: 4 };
    const told = factsOf(ended('closed_by_client', MINUTE, { calls: [open] }));
    expect(told).toContain('Call call_1 is still closing, 4 tries');
    expect(told).toContain('Nobody here has heard call call_1 since');
  });

  test('that a call was open and nothing was told of its usage, where calls are heard here', () => {
    const heard = (more: Partial<SessionFacts>) => ended('closed_by_client', 2 * MINUTE, more, { isHeard: true });
    const meter = { callId: 'call_1', basis: 'events', estimatedMicroDollars: 0, gapMs: 0 } as const;
    const tokens = {
      textIn: 0,
      textCached: 0,
      textOut: 0,
      audioIn: 1,
      audioCached: 0,
      audioOut: 0,
      imageIn: 0,
      imageCached: 0,
    };
    expect(factsOf(heard({ calls: [call] }))).toContain('open for 60 s, and the provider told of no usage');
    expect(factsOf(heard({ calls: [call], meters: [{ ...meter, tokens, microDollars: 31_000 }] }))).toContain(
      'told of $0.03',
    );
    expect(factsOf(heard({}))).toContain('never opened a call');
    expect(factsOf(ended('closed_by_client', MINUTE, { calls: [call] }))).not.toContain('usage');
  });

  test('that events of its time were not kept', () => {
    const detail = { fromMs: DAY_BEGIN, count: 3 };
    const lost = [{ ...seen, kind: 'lost', code: 'events', atMs: DAY_BEGIN, detail } as const];
    expect(factsOf(known({}, { lost }))).toContain('3 events of some sessions were not kept');
  });
});
