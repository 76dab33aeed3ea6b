import { describe, expect, test } from 'vitest';
import { CLOSE_REASONS, type CloseReason } from '../../machines/voice-call/close-reasons.ts';
import { askAgainMs, tryDelayMs } from '../../machines/voice-call/hang-up-tries.ts';
import { nextDeadline, wentOnUntilMs } from '../../machines/voice-call/selectors.ts';
import type { CallEvent, CallRecord } from '../../machines/voice-call/types.ts';
import {
  answered,
  awaited,
  clock,
  close,
  created,
  createFailed,
  fresh,
  GIVE_UP,
  heard,
  limits,
  lost,
  opened,
  over,
  play,
  PROVIDER_ENDS,
  ready,
  SECOND,
  taken,
  wrappedUp,
} from './voice-call-support.ts';

const at = 5 * SECOND;
const closing = (): CallRecord => play(opened(), [close(at)]).record;
const answeredYet = (): CallRecord => play(fresh(), [created(SECOND)]).record;

describe('A call', () => {
  test('is created by its first event, by the node that asks the provider', () => {
    expect(fresh()).toEqual({
      id: 'call_1',
      sessionId: 's:1',
      subject: '1',
      tenantId: 'acme',
      keyId: 'site',
      provider: 'fake',
      fingerprint: 'one',
      model: 'echo',
      state: 'creating',
      providerCallId: null,
      createdAtMs: 0,
      openedAtMs: null,
      closingAtMs: null,
      closedAtMs: null,
      closeReason: null,
      hangup: 'none',
      hangupTries: 0,
      overAtMs: null,
      overDoor: null,
      nextTryAtMs: null,
      unheardSinceMs: null,
      giveUpAtMs: GIVE_UP,
      providerEndsAtMs: null,
      graceUntilMs: null,
      wrappedUpAtMs: null,
      ownerNode: 'one',
      fence: 1,
      version: 1,
    });
  });

  test('is open once the provider has answered and its events are heard, and emits so once', () => {
    const { record, facts } = play(fresh(), [created(SECOND), ready(2 * SECOND), ready(3 * SECOND)]);
    expect(record).toMatchObject({ state: 'open', openedAtMs: 2 * SECOND, providerCallId: 'rtc_1', version: 3 });
    expect(facts).toEqual([{ type: 'call.opened' }]);
    expect(nextDeadline(record)).toBe(PROVIDER_ENDS);
  });

  test('remembers when its agent first said goodbye, and nothing of it unless it is open', () => {
    const { record } = play(opened(), [wrappedUp(at), wrappedUp(at + SECOND)]);
    expect(record).toMatchObject({ state: 'open', wrappedUpAtMs: at, version: opened().version + 1 });
    expect(play(record, [taken(at), ready(at), close(at)]).record.wrappedUpAtMs).toBe(at);
    for (const other of [fresh(), closing()]) expect(play(other, [wrappedUp(at)]).record).toEqual(other);
  });

  test('cannot be heard before the provider has answered', () => {
    expect(play(fresh(), [ready(SECOND), over(SECOND)]).record).toEqual(fresh());
  });

  test('that the provider did not create is closed without a hang-up', () => {
    const { record, facts } = play(fresh(), [createFailed(SECOND)]);
    expect(record).toMatchObject({ state: 'closed', closeReason: 'create_failed', hangup: 'none', graceUntilMs: null });
    expect(facts).toEqual([{ type: 'call.closed', reason: 'create_failed', hangup: 'none' }]);
  });

  test('that was created ignores a failure to create it', () => {
    expect(play(answeredYet(), [createFailed(SECOND)]).record).toEqual(answeredYet());
  });

  test('that is over before its answer was given never opens', () => {
    const { record } = play(answeredYet(), [over(at)]);
    expect(record).toMatchObject({
      state: 'closed',
      closeReason: 'create_failed',
      hangup: 'already_over',
      graceUntilMs: null,
    });
  });

  test.each<[string, CallRecord, string, Partial<CallRecord>]>([
    ['no answer came to', fresh(), 'none', { providerCallId: null, nextTryAtMs: null }],
    ['the answer never left for', answeredYet(), 'none', { providerCallId: 'rtc_1', nextTryAtMs: GIVE_UP }],
  ])('is given up when %s it in time', (_, record, hangup, rest) => {
    expect(play(record, [clock(GIVE_UP - 1)]).record).toEqual(record);
    const { record: after } = play(record, [clock(GIVE_UP)]);
    expect(after).toMatchObject({ state: 'closing', closeReason: 'create_failed', hangup, ...rest });
  });

  test('that was given up without an answer is closed by the next CLOCK', () => {
    const { record } = play(fresh(), [clock(GIVE_UP), clock(GIVE_UP)]);
    expect(record).toMatchObject({ state: 'closed', hangup: 'none', closeReason: 'create_failed' });
  });

  test('that must close before the provider answers is hung up when the answer comes', () => {
    const waiting = play(fresh(), [close(SECOND)]).record;
    expect(nextDeadline(waiting)).toBe(GIVE_UP);
    const { record } = play(waiting, [created(2 * SECOND)]);
    expect(record).toMatchObject({ state: 'closing', closeReason: 'session_ended', nextTryAtMs: 2 * SECOND });
    expect(play(waiting, [createFailed(at)]).record).toMatchObject({ state: 'closed', closeReason: 'session_ended' });
  });
});

describe('A hang-up', () => {
  const left = { isLeft: true };

  test('is requested at once, and again a second after it began, which confirms it', () => {
    const asked = play(closing(), [answered(at, 'asked')]).record;
    expect(closing()).toMatchObject({ state: 'closing', nextTryAtMs: at, hangup: 'none' });
    expect(asked).toMatchObject({ state: 'closing', hangup: 'asked', hangupTries: 1, nextTryAtMs: at + SECOND });
    const { record, facts } = play(asked, [answered(at + SECOND, 'asked', left)]);
    expect(record).toMatchObject({ state: 'closed', hangup: 'confirmed', hangupTries: 2, closedAtMs: at + SECOND });
    expect(facts).toEqual([{ type: 'call.closed', reason: 'session_ended', hangup: 'confirmed' }]);
    expect(nextDeadline(record)).toBe(Infinity);
  });

  test.each<[string, readonly CallEvent[], string]>([
    ['was over when it was first asked', [answered(at, 'already_over', left)], 'already_over'],
    ['told so by itself before it was asked', [over(at)], 'already_over'],
    ['was begun, then over', [answered(at, 'asked'), answered(at, 'already_over', left)], 'confirmed'],
    ['was begun, and told to be over', [answered(at, 'asked'), over(at)], 'confirmed'],
    [
      'gave no usable answer, then was over',
      [answered(at, 'failed'), answered(at, 'already_over', left)],
      'already_over',
    ],
  ])('of a call that %s', (_, events, hangup) => {
    expect(play(closing(), events).record).toMatchObject({ state: 'closed', closeReason: 'session_ended', hangup });
  });

  describe.each(['asked', 'already_over'] as const)(
    'that was begun, and then %s, with its sideband as it was',
    (then) => {
      const twice = (): CallRecord => play(closing(), [answered(at, 'asked'), answered(at + SECOND, then)]).record;

      test('is confirmed after two seconds in which nothing was heard', () => {
        expect(nextDeadline(twice())).toBe(at + 3 * SECOND);
        expect(play(twice(), [clock(at + 3 * SECOND - 1)]).state).toBe('closing');
        const { record } = play(twice(), [clock(at + 3 * SECOND)]);
        expect(record).toMatchObject({ state: 'closed', hangup: 'confirmed', hangupTries: 2 });
      });

      test('is undone as soon as something is heard, and requested again', () => {
        const { record, facts } = play(twice(), [heard(at + 2 * SECOND), clock(at + 4 * SECOND)]);
        expect(record).toMatchObject({ state: 'closing', overAtMs: null, nextTryAtMs: at + 5 * SECOND });
        expect(facts).toEqual([]);
      });
    },
  );

  test('at a provider that begins it but continues the call is requested at 1, 5, 15, 60 seconds and each minute', () => {
    let record = closing();
    const asked: number[] = [];
    for (let tries = 0; tries < 7; tries += 1) {
      const now = record.nextTryAtMs ?? 0;
      asked.push((now - at) / SECOND);
      record = play(record, [answered(now, 'asked'), heard(now)]).record;
    }
    expect(record.state).toBe('closing');
    expect(asked).toEqual([0, 1, 5, 15, 60, 120, 180]);
  });

  test('is tried again after a quarter of a second, then at growing intervals, then every 30 s', () => {
    let record = closing();
    const delays: number[] = [];
    for (let tries = 0; tries < 10; tries += 1) {
      const now = record.nextTryAtMs ?? 0;
      record = play(record, [answered(now, 'failed')]).record;
      delays.push((record.nextTryAtMs ?? 0) - now);
    }
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    expect(record.hangupTries).toBe(10);
    expect(tryDelayMs(1)).toBe(250);
  });

  test('ends as unconfirmed when the provider itself must have ended the call', () => {
    const tried = play(closing(), [answered(at, 'failed'), clock(PROVIDER_ENDS - 1)]).record;
    expect(tried.state).toBe('closing');
    const { record, facts } = play(tried, [clock(PROVIDER_ENDS)]);
    expect(record).toMatchObject({ state: 'closed', hangup: 'unconfirmed', closeReason: 'session_ended' });
    expect(facts).toEqual([{ type: 'call.closed', reason: 'session_ended', hangup: 'unconfirmed' }]);
  });

  test('of a call that the provider should have ended is tried for a minute', () => {
    const { record } = play(opened(), [clock(PROVIDER_ENDS)]);
    expect(record).toMatchObject({ state: 'closing', closeReason: 'expired', nextTryAtMs: PROVIDER_ENDS });
    expect(record.giveUpAtMs).toBe(PROVIDER_ENDS + 60 * SECOND);
  });
});

describe("A provider's word that a call is over", () => {
  const said = (): CallRecord => play(opened(), [over(at, 'lost', false)]).record;
  const hungUp = (): CallRecord => play(closing(), [answered(at, 'already_over')]).record;

  test('is believed if it also closes the sideband', () => {
    expect(play(opened(), [over(at, 'lost')]).record).toMatchObject({ state: 'closed', hangup: 'already_over' });
    expect(play(said(), [over(at + 1, 'lost')]).record).toMatchObject({ state: 'closed', hangup: 'already_over' });
    expect(play(hungUp(), [over(at + 1, 'lost')]).record).toMatchObject({ state: 'closed', hangup: 'already_over' });
  });

  test('alone closes nothing: the call is hung up at once, and again after 1, 5, 15 and 60 seconds, then each minute', () => {
    let record = said();
    expect(record).toMatchObject({ state: 'closing', closeReason: 'lost', hangup: 'none', overDoor: 'sideband' });
    const tries: number[] = [];
    for (let n = 0; n < 7; n += 1) {
      const now = record.nextTryAtMs ?? 0;
      tries.push((now - at) / SECOND);
      // A proxy may have answered: that does not count as the provider's word.
      record = play(record, [answered(now, n < 2 ? 'already_over' : 'failed')]).record;
      record = { ...record, nextTryAtMs: n < 2 ? record.nextTryAtMs : askAgainMs(at, now) };
    }
    expect(tries).toEqual([0, 1, 5, 15, 60, 120, 180]);
    expect(record.state).toBe('closing');
  });

  test('is believed if a hang-up says the same five seconds later', () => {
    expect(play(said(), [answered(at + 4999, 'already_over')]).state).toBe('closing');
    const { record } = play(said(), [answered(at, 'already_over'), answered(at + 5 * SECOND, 'already_over')]);
    expect(record).toMatchObject({ state: 'closed', closeReason: 'lost', hangup: 'already_over', hangupTries: 2 });
  });

  test('in reply to a hang-up is believed if dialling fails five seconds later, but not if a second hang-up says so', () => {
    const later = at + 5 * SECOND;
    expect(hungUp()).toMatchObject({ state: 'closing', overDoor: 'hangup', overAtMs: at, nextTryAtMs: at + SECOND });
    expect(play(hungUp(), [answered(later, 'already_over')]).state).toBe('closing');
    expect(play(hungUp(), [over(later - 1, 'lost', false)]).state).toBe('closing');
    expect(play(hungUp(), [over(later, 'lost', false)]).state).toBe('closed');
    expect(play(hungUp(), [answered(later, 'already_over', { dialled: 'unknown' })]).state).toBe('closed');
  });

  test('no longer counts once the call can be dialled, is hung up or is heard', () => {
    const later = at + 5 * SECOND;
    const nothing = { state: 'closing', overAtMs: null, overDoor: null };
    expect(play(hungUp(), [answered(later, 'already_over', { dialled: 'known' })]).record).toMatchObject(nothing);
    expect(play(hungUp(), [answered(later, 'asked')]).record).toMatchObject({ ...nothing, hangup: 'asked' });
    expect(play(said(), [heard(later)]).record).toMatchObject(nothing);
  });

  test('is refuted by what is heard after it, not before', () => {
    expect(play(said(), [heard(at - 1)]).record).toEqual(said());
    expect(play(closing(), [heard(at)]).record).toEqual(closing());
    expect(play(opened(), [heard(at)]).record).toEqual(opened());
  });

  test('alone leaves the call unconfirmed when the provider itself must have ended it', () => {
    const { record } = play(said(), [answered(at, 'already_over'), clock(PROVIDER_ENDS)]);
    expect(record).toMatchObject({ state: 'closed', hangup: 'unconfirmed', closeReason: 'lost' });
  });

  test('before its answer was given makes the call a failed one, which is hung up', () => {
    const { record } = play(answeredYet(), [over(at, 'lost', false)]);
    expect(record).toMatchObject({ state: 'closing', closeReason: 'create_failed', nextTryAtMs: at, overAtMs: at });
  });
});

describe('An open call', () => {
  test('that nobody hears is closed after a while, and goes on if it is heard again', () => {
    const unheard = play(opened(), [lost(at), lost(at + SECOND)]).record;
    expect(unheard).toMatchObject({ state: 'open', unheardSinceMs: at });
    expect(nextDeadline(unheard)).toBe(at + 20 * SECOND);
    expect(play(unheard, [clock(at + 20 * SECOND - 1)]).state).toBe('open');
    expect(play(unheard, [clock(at + 20 * SECOND)]).record).toMatchObject({ state: 'closing', closeReason: 'unheard' });
    const heard = play(unheard, [ready(at + SECOND)]).record;
    expect(heard).toMatchObject({ unheardSinceMs: null, giveUpAtMs: null });
    expect(play(heard, [clock(at + 20 * SECOND)]).state).toBe('open');
  });

  test('that nobody hears goes on if the limits allow it', () => {
    const forEver = { ...limits, unheardSec: 0 };
    const { record } = play(opened(forEver), [lost(at), clock(at + 3000 * SECOND)], forEver);
    expect(record).toMatchObject({ state: 'open', unheardSinceMs: at });
  });
});

describe('A call that is taken over', () => {
  test.each<[string, CallRecord, Partial<CallRecord>]>([
    [
      'while it is created closes, once it is answered',
      fresh(),
      { state: 'closing', giveUpAtMs: GIVE_UP, nextTryAtMs: null },
    ],
    ['before its answer was given is hung up', answeredYet(), { state: 'closing', nextTryAtMs: at }],
    [
      'while it is open is unheard since its owner was last alive',
      opened(),
      { state: 'open', unheardSinceMs: 3 * SECOND, giveUpAtMs: 23 * SECOND },
    ],
    [
      'while it is closing is hung up as before',
      closing(),
      { state: 'closing', nextTryAtMs: at, closeReason: 'session_ended' },
    ],
  ])('%s', (_, record, expected) => {
    const after = play(record, [taken(at, 'two', 3 * SECOND)]).record;
    expect(after).toMatchObject({ ...expected, ownerNode: 'two', fence: 2, version: record.version + 1 });
  });

  test('keeps the time since which it is closing, or takes that of the takeover if an earlier version closed it', () => {
    expect(closing().closingAtMs).toBe(at);
    const later = at + 9 * SECOND;
    expect(play(closing(), [taken(later)]).record.closingAtMs).toBe(at);
    expect(play({ ...closing(), closingAtMs: null }, [taken(later)]).record.closingAtMs).toBe(later);
    expect(play(closing(), [answered(later, 'failed')]).record.closingAtMs).toBe(at);
  });

  const foreign = (record: CallRecord): CallRecord => play(record, [taken(at, 'two', 3 * SECOND, true)]).record;

  test('by a node without its credential is unconfirmed, unheard, and closed with its session without a hang-up', () => {
    expect(foreign(opened())).toMatchObject({ state: 'open', hangup: 'unconfirmed', unheardSinceMs: 3 * SECOND });
    const unheard = play(foreign(opened()), [clock(23 * SECOND)]).record;
    expect(unheard).toMatchObject({
      state: 'closing',
      closeReason: 'unheard',
      hangup: 'unconfirmed',
      nextTryAtMs: null,
    });
    expect(foreign(closing())).toMatchObject({ state: 'closing', hangup: 'unconfirmed', nextTryAtMs: null });
    expect(foreign(answeredYet())).toMatchObject({ state: 'closing', hangup: 'unconfirmed', nextTryAtMs: null });
    expect(foreign(fresh())).toMatchObject({ state: 'closing', hangup: 'none' });
    expect(play(unheard, [clock(PROVIDER_ENDS)]).record).toMatchObject({ state: 'closed', hangup: 'unconfirmed' });
  });

  test('by a node with its credential can be heard and hung up again', () => {
    const later = 10 * SECOND;
    expect(play(foreign(opened()), [taken(later), ready(later)]).record).toMatchObject({
      state: 'open',
      hangup: 'none',
      unheardSinceMs: null,
    });
    expect(play(foreign(closing()), [taken(later)]).record).toMatchObject({ hangup: 'none', nextTryAtMs: later });
  });

  test('does not change if nothing is left to do', () => {
    const { record } = play(closing(), [over(at)]);
    expect(play(record, [taken(at)]).record).toEqual(record);
  });
});

describe('The session of a call', () => {
  const asIfClosed: Record<CloseReason, readonly CallEvent[]> = {
    session_ended: [close(at)],
    session_idle: [close(at, 'session_idle')],
    replaced: [close(at, 'replaced')],
    create_failed: [close(at, 'create_failed')],
    config_changed: [close(at, 'config_changed')],
    tampered: [close(at, 'tampered')],
    tool_forged: [close(at, 'tool_forged')],
    tool_ended: [close(at, 'tool_ended')],
    unheard: [lost(at - 20 * SECOND), clock(at)],
    expired: [over(at, 'expired')],
    content: [over(at, 'content')],
    remote: [over(at, 'remote')],
    lost: [over(at, 'lost')],
  };

  test.each(Object.keys(CLOSE_REASONS) as CloseReason[])('ends as the table says after %s', (reason) => {
    const { record } = play(opened(), asIfClosed[reason]);
    const expected = { 'goes on': null, ends: at, 'ends after grace': at + 30 * SECOND };
    expect(record.closeReason).toBe(reason);
    expect(record.graceUntilMs).toBe(expected[CLOSE_REASONS[reason].session]);
  });

  const reasons = Object.keys(CLOSE_REASONS) as CloseReason[];
  const mayBeFollowed = (reason: CloseReason): boolean => CLOSE_REASONS[reason].session === 'ends after grace';

  test.each(reasons.filter(mayBeFollowed))('waits longer for another call after %s, and never for less', (reason) => {
    const { record } = play(opened(), asIfClosed[reason]);
    const waiting = play(record, [awaited(at, at + 90 * SECOND)]).record;
    expect(waiting).toEqual({ ...record, graceUntilMs: at + 90 * SECOND, version: record.version + 1 });
    expect(nextDeadline(waiting)).toBe(at + 90 * SECOND);
    expect(play(waiting, [awaited(at, at + 60 * SECOND)]).record).toEqual(waiting);
    expect(play(waiting, [taken(at), clock(at + 89 * SECOND)]).record.graceUntilMs).toBe(at + 90 * SECOND);
    const ended = play(waiting, [clock(at + 90 * SECOND)]).record;
    expect([ended.graceUntilMs, play(ended, [awaited(at + 91 * SECOND)]).record]).toEqual([null, ended]);
  });

  test.each(reasons.filter((reason) => !mayBeFollowed(reason)))('waits for no other call after %s', (reason) => {
    const { record } = play(opened(), asIfClosed[reason]);
    expect(play(record, [awaited(at, at + 90 * SECOND)]).record).toEqual(record);
  });

  test('waits longer while the provider is still being asked to hang up, which continues', () => {
    const { record } = play(opened(), [over(at, 'lost', false), awaited(at, at + 90 * SECOND)]);
    expect(record).toMatchObject({ state: 'closing', graceUntilMs: at + 90 * SECOND, nextTryAtMs: at });
  });

  test('ends while the provider is still being asked to hang up, which continues', () => {
    const { record } = play(opened(), [close(at, 'config_changed'), answered(at, 'failed'), clock(at)]);
    expect(record).toMatchObject({ state: 'closing', graceUntilMs: null, nextTryAtMs: at + 250 });
  });

  test('ends once: its end is not due again after being recorded, and can be taken over until then', () => {
    const ended = play(opened(), [over(at, 'content')]).record;
    expect(play(ended, [taken(at)]).record).toMatchObject({ state: 'closed', ownerNode: 'two', graceUntilMs: at });
    expect(nextDeadline(play(ended, [clock(at)]).record)).toBe(Infinity);
  });
});

describe('A call that its page opens itself, and can open again', () => {
  const pages = { ...limits, returnSec: 600 };
  const over = at + 601 * SECOND;
  const asked = (): CallRecord => play(opened(pages), [close(at), answered(at, 'asked')], pages).record;
  const gone = (): CallRecord => play(asked(), [answered(at + SECOND, 'already_over')], pages).record;

  test('is hung up again until it cannot be opened any more, and only then over', () => {
    expect(gone()).toMatchObject({ state: 'closing', hangup: 'asked', overAtMs: over });
    expect(nextDeadline(gone())).toBeLessThan(at + 10 * SECOND);
    expect(play(gone(), [clock(over)], pages).state).toBe('closing');
    expect(play(gone(), [clock(over + 2 * SECOND)], pages).record).toMatchObject({
      state: 'closed',
      hangup: 'confirmed',
    });
  });

  test('is hung up for the same time once more if it was opened again', () => {
    const back = play(gone(), [answered(at + 300 * SECOND, 'asked')], pages).record;
    expect(back.overAtMs).toBe(at + 900 * SECOND);
    expect(play(back, [clock(over + 2 * SECOND)], pages).state).toBe('closing');
  });

  test('is over just as late if nobody ever opened it, even if the provider says so otherwise', () => {
    const never = play(fresh(pages), [created(SECOND), close(at), answered(at, 'already_over')], pages).record;
    expect(never).toMatchObject({ hangup: 'none', overAtMs: at + 600 * SECOND });
    expect(never.nextTryAtMs).toBeLessThanOrEqual(at + 60 * SECOND);
    const word = (when: number): CallEvent => answered(when, 'already_over', { dialled: 'unknown' });
    expect(play(never, [word(over)], pages).state).toBe('closing');
    expect(play(never, [word(over + 5 * SECOND)], pages).record).toMatchObject({
      state: 'closed',
      hangup: 'already_over',
    });
  });

  test('is hung up at once when the provider reports that it is open again', () => {
    expect(play(gone(), [ready(at + 9 * SECOND)], pages).record).toMatchObject({
      nextTryAtMs: at + 9 * SECOND,
      overAtMs: null,
    });
    expect(play(gone(), [ready(at + 9 * SECOND)]).record).toEqual(gone());
  });

  test('goes on waiting for its visitor when its node dies', () => {
    const waiting = play(fresh(pages), [created(SECOND)], pages).record;
    expect(play(waiting, [taken(at)], pages).record).toMatchObject({ state: 'creating', ownerNode: 'two', fence: 2 });
  });

  test('counts as having gone on until it was closed, whoever takes it over then', () => {
    expect(wentOnUntilMs(gone(), at + 300 * SECOND)).toBe(at);
  });
});
