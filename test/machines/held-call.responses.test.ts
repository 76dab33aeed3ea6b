import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  doneOf,
  heardOf,
  isQuiet,
  kindOf,
  noResponses,
  overdueOf,
  runningOf,
  settledOf,
  started,
  withCancelled,
  withInherited,
  withItem,
  withoutSideband,
  withSideband,
  withUsage,
  worstCasesOf,
  type Estimate,
  type ResponseKind,
  type Settled,
  type WorstCase,
} from '../../machines/held-call/responses.ts';
import type { Responses, ResponseTerms, StartedResponse, TokenCounts } from '../../machines/held-call/types.ts';
import { NO_TOKENS } from '../../src/protocol/price.ts';

/** The responses of one call, from one event to the next. */
class OpenResponses {
  readonly #terms: ResponseTerms;
  #responses: Responses;

  constructor(terms: Omit<ResponseTerms, 'maxResponseTokens'>) {
    this.#terms = { ...terms, maxResponseTokens: 4096 };
    this.#responses = noResponses(this.#terms);
  }

  get running(): string[] {
    return runningOf(this.#responses).map(({ id }) => id);
  }

  get inherited(): number {
    return this.#responses.inherited;
  }

  get isEmpty(): boolean {
    return isQuiet(this.#responses);
  }

  get worstCases(): readonly WorstCase[] {
    return worstCasesOf(this.#responses, this.#terms);
  }

  start(response: StartedResponse, at: number): ResponseKind {
    const kind = kindOf(this.#responses, this.#terms, response);
    this.#responses = started(this.#responses, this.#terms, response, at);
    return kind;
  }

  heard(id: string, tokens: number, at: number): boolean {
    const [responses, beganUnheard] = heardOf(this.#responses, this.#terms, id, tokens, at);
    this.#responses = responses;
    return beganUnheard;
  }

  done(id: string, isTold: boolean, at: number): Estimate | undefined {
    return this.#settle(doneOf(this.#responses, this.#terms, id, isTold, at))[0];
  }

  overdue(at: number): readonly Estimate[] {
    return this.#settle(overdueOf(this.#responses, this.#terms, at));
  }

  settle(at: number): readonly Estimate[] {
    return this.#settle(settledOf(this.#responses, this.#terms, at));
  }

  noteUsage(id: string, tokens: TokenCounts): void {
    this.#responses = withUsage(this.#responses, id, tokens);
  }

  noteItem(id: string, tokens: number): void {
    this.#responses = withItem(this.#responses, id, tokens);
  }

  cancelled(id: string, at: number): void {
    this.#responses = withCancelled(this.#responses, [id], at);
  }

  inherit(sinceMs: number): void {
    this.#responses = withInherited(this.#responses, this.#terms, sinceMs);
  }

  attached(at: number): void {
    this.#responses = withSideband(this.#responses, at);
  }

  lost(at: number): void {
    this.#responses = withoutSideband(this.#responses, at);
  }

  granted(grantedTokens: number): void {
    this.#responses = { ...this.#responses, grantedTokens };
  }

  #settle([responses, estimates]: Settled): readonly Estimate[] {
    this.#responses = responses;
    return estimates;
  }
}

const SECOND = 1000;
const response = (id: string, changes: Partial<StartedResponse> = {}): StartedResponse => ({
  id,
  isInConversation: true,
  maxOutputTokens: 1000,
  grantedTokens: 1000,
  modality: 'audio',
  ...changes,
});
const beside = { isInConversation: false };

let open: OpenResponses;
beforeEach(() => {
  open = new OpenResponses({ max: 2, forbidsOverrides: false, setupTokens: 50, maxItemTokens: 12_000 });
});

describe('A response that begins', () => {
  test('is ordinary if it is the only one, in the conversation and no longer than granted', () => {
    expect(open.start(response('r1'), 0)).toBe('ordinary');
    open.done('r1', true, 0);
    expect(open.start(response('r2', { maxOutputTokens: 1001 }), 0)).toBe('extra');
    open.done('r2', true, 0);
    expect(open.start(response('r3', beside), 0)).toBe('extra');
    expect(open.start(response('r4'), 0)).toBe('extra');
  });

  test('is one too many if the maximum is running, not counting those being cancelled', () => {
    open.start(response('r1'), 0);
    open.start(response('r2', beside), 0);
    expect(open.start(response('r3', beside), 0)).toBe('too_many');
    open.cancelled('r3', 0);
    open.cancelled('r2', 0);
    expect(open.start(response('r4', beside), 0)).toBe('extra');
    expect(open.running).toEqual(['r1', 'r4']);
  });

  test('of a locked session is forbidden outside the conversation or if longer than granted', () => {
    open = new OpenResponses({ max: 2, forbidsOverrides: true, setupTokens: 0, maxItemTokens: 12_000 });
    expect(open.start(response('r1', beside), 0)).toBe('out_of_band');
    expect(open.start(response('r2', { maxOutputTokens: Infinity }), 0)).toBe('too_long');
    open = new OpenResponses({ max: 2, forbidsOverrides: true, setupTokens: 0, maxItemTokens: 12_000 });
    expect(open.start(response('r3', { maxOutputTokens: 999 }), 0)).toBe('ordinary');
  });
});

describe('A response without reported usage', () => {
  test('is charged for its context and for what it may have said in its time', () => {
    open.start(response('r1'), 0);
    expect(open.done('r1', false, 3 * SECOND)).toEqual({
      key: 'r1',
      tokens: { ...NO_TOKENS, textIn: 50, audioOut: 60 },
    });
    open.start(response('r2', { modality: 'text' }), 0);
    expect(open.done('r2', false, 3 * SECOND)?.tokens).toMatchObject({ textOut: 300, audioOut: 0 });
  });

  test('is charged at most for what it was allowed to say', () => {
    open.start(response('r1'), 0);
    expect(open.settle(3600 * SECOND)).toMatchObject([{ key: 'r1', tokens: { audioOut: 1000 } }]);
    expect(open.settle(3600 * SECOND)).toEqual([]);
  });

  test('is charged for what it was heard to say, if that is more than its time allows', () => {
    open.start(response('r1'), 0);
    for (let n = 0; n < 100; n += 1) open.heard('r1', 4.2, 0);
    expect(open.done('r1', false, SECOND)).toMatchObject({ tokens: { audioOut: 420 } });
  });

  test('is charged at most for the provider’s maximum, whatever it was allowed', () => {
    open.start(response('r1', { maxOutputTokens: Infinity }), 0);
    expect(open.settle(3600 * SECOND)).toMatchObject([{ tokens: { audioOut: 4096 } }]);
  });

  test('is not charged for time in which nobody heard the call, which is a gap', () => {
    open.start(response('r1'), 0);
    open.start(response('r2', beside), 0);
    open.lost(SECOND);
    expect(open.done('r1', false, 60 * SECOND)).toMatchObject({ tokens: { audioOut: 20 } });
    open.attached(60 * SECOND);
    expect(open.settle(62 * SECOND)).toMatchObject([{ key: 'r2', tokens: { audioOut: 60 } }]);
  });

  test('that is heard to speak before its start is heard counts from then on', () => {
    expect(open.heard('r1', 0, SECOND)).toBe(true);
    expect(open.heard('r1', 0, SECOND)).toBe(false);
    expect(open.done('r1', false, 3 * SECOND)).toMatchObject({ key: 'r1', tokens: { audioOut: 40 } });
    expect(open.heard('r1', 0, 4 * SECOND)).toBe(false);
    expect(open.isEmpty).toBe(true);
  });

  test('is settled two seconds after its cancellation', () => {
    open.start(response('r1'), 0);
    open.cancelled('r1', SECOND);
    expect(open.overdue(3 * SECOND - 1)).toEqual([]);
    expect(open.overdue(3 * SECOND)).toMatchObject([{ key: 'r1', tokens: { audioOut: 60 } }]);
    expect(open.isEmpty).toBe(true);
  });
});

describe('The context', () => {
  const contextOf = (id: string): unknown => {
    open.start(response(id), 0);
    return open.done(id, false, 0)?.tokens;
  };

  test('is the input of the last response at uncached rates, and the items since it started', () => {
    open.noteItem('question', 20);
    open.start(response('r1'), 0);
    open.noteItem('answer', 5);
    open.noteItem('answer', 30);
    open.noteUsage('r1', { ...NO_TOKENS, textIn: 10, textCached: 60, audioIn: 5, audioCached: 100, audioOut: 77 });
    open.done('r1', true, 0);
    expect(contextOf('r2')).toEqual({ ...NO_TOKENS, textIn: 70 + 30, audioIn: 105 });
  });

  test('consists of instructions, tools and items before any usage', () => {
    open.noteItem('question', 20);
    expect(contextOf('r1')).toEqual({ ...NO_TOKENS, textIn: 70 });
  });

  test('does not shrink because of a response outside the conversation', () => {
    open.start(response('r1', beside), 0);
    open.noteUsage('r1', { ...NO_TOKENS, textIn: 1 });
    open.done('r1', true, 0);
    expect(contextOf('r2')).toEqual({ ...NO_TOKENS, textIn: 50 });
  });

  test('loses no item, however many there are', () => {
    for (let n = 0; n < 3000; n += 1) open.noteItem(`item_${n}`, 1);
    expect(contextOf('r1')).toEqual({ ...NO_TOKENS, textIn: 3050 });
  });

  test('counts no more items than a response reads', () => {
    for (let n = 0; n < 3000; n += 1) open.noteItem(`item_${n}`, 12_000);
    expect(contextOf('r1')).toEqual({ ...NO_TOKENS, textIn: 12_050 });
  });
});

describe('A call taken over from another node', () => {
  test('may have the maximum of running responses, until each is reported, heard or ruled out', () => {
    open.granted(300);
    open.inherit(0);
    expect(open.worstCases).toMatchObject([{ outputTokens: 300 }, { outputTokens: 300 }]);
    open.heard('r1', 0, 0);
    expect(open.running).toEqual(['r1']);
    expect(open.inherited).toBe(1);
    expect(open.done('r2', true, SECOND)).toBeUndefined();
    expect(open.inherited).toBe(0);
    expect(open.heard('r3', 0, SECOND)).toBe(true);
    expect(open.settle(SECOND)).toMatchObject([{ key: 'r1', tokens: { audioOut: 20 } }, { key: 'r3' }]);
  });

  test('may have one if its page may change nothing, and none once another runs in the conversation', () => {
    open = new OpenResponses({ max: 2, forbidsOverrides: true, setupTokens: 0, maxItemTokens: 12_000 });
    open.inherit(0);
    expect(open.inherited).toBe(1);
    open.start(response('r1'), 0);
    expect(open.inherited).toBe(0);
  });

  test('has none that is not heard within ten seconds of hearing the call', () => {
    open.inherit(0);
    open.overdue(60 * SECOND);
    expect(open.inherited).toBe(2);
    open.attached(60 * SECOND);
    open.overdue(70 * SECOND - 1);
    expect(open.inherited).toBe(2);
    open.overdue(70 * SECOND);
    expect(open.inherited).toBe(0);
  });

  test('is charged for those that nothing rules out, by the time since the call is heard again', () => {
    open.inherit(0);
    open.attached(10 * SECOND);
    expect(open.settle(12 * SECOND)).toMatchObject([{ tokens: { audioOut: 40 } }, { tokens: { audioOut: 40 } }]);
  });

  test('is charged for none if it is never heard again, because all of that is a gap', () => {
    open.inherit(0);
    expect(open.settle(600 * SECOND)).toEqual([]);
  });

  test('is charged under its own id for one that is reported as cut off without usage', () => {
    open.inherit(0);
    open.attached(0);
    expect(open.done('r1', false, SECOND)).toMatchObject({ key: 'r1', tokens: { audioOut: 20 } });
    expect(open.inherited).toBe(1);
  });
});

type Step =
  | { readonly type: 'start'; readonly id: number; readonly isInConversation: boolean; readonly size: number }
  | { readonly type: 'done'; readonly id: number; readonly isTold: boolean }
  | { readonly type: 'heard' | 'item'; readonly id: number }
  | { readonly type: 'tick' };

const id = fc.nat(12);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant('start' as const),
    id,
    isInConversation: fc.boolean(),
    size: fc.constantFrom(1, 1000, 1001, Infinity),
  }),
  fc.record({ type: fc.constant('done' as const), id, isTold: fc.boolean() }),
  fc.record({ type: fc.constantFrom('heard' as const, 'item' as const), id }),
  fc.constant({ type: 'tick' as const }),
);

test('Whatever a provider sends, no response is forgotten, none is charged twice, and no more run than may', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 3 }),
      (steps, forbidsOverrides, max) => {
        const responses = new OpenResponses({ max, forbidsOverrides, setupTokens: 0, maxItemTokens: 12_000 });
        /** Responses that started and whose end was not reported. */
        const unsettled = new Set<string>();
        const charged: string[] = [];
        const forbidden = new Set<string>();
        let at = 0;
        const charge = (estimates: readonly { readonly key: string }[]): void => {
          for (const { key } of estimates) {
            expect(unsettled.delete(key)).toBe(true);
            charged.push(key);
          }
        };
        const hear = (name: string): void => {
          const isUnknown = !unsettled.has(name);
          expect(responses.heard(name, 3, at)).toBe(isUnknown);
          unsettled.add(name);
          if (isUnknown) responses.cancelled(name, at);
        };
        steps.forEach((each, index) => {
          at += 700;
          // An id repeats only while its response runs: providers give each response a new one.
          const name = `r${each.type === 'tick' ? 0 : each.id}`;
          const open = [...unsettled].find((known) => known.startsWith(`${name}:`)) ?? `${name}:${index}`;
          if (each.type === 'start') {
            unsettled.add(open);
            const { isInConversation, size } = each;
            const kind = responses.start(response(open, { isInConversation, maxOutputTokens: size }), at);
            if (kind !== 'ordinary' && kind !== 'extra') responses.cancelled(open, at);
            if (forbidsOverrides && (!isInConversation || size > 1000)) forbidden.add(open);
          } else if (each.type === 'done') {
            const estimate = responses.done(open, each.isTold, at);
            if (estimate !== undefined) charge([estimate]);
            unsettled.delete(open);
          } else if (each.type === 'heard') hear(open);
          else if (each.type === 'item') responses.noteItem(open, 10);
          else charge(responses.overdue(at));
          expect(responses.running.length).toBeLessThanOrEqual(max);
          expect(responses.running.filter((running) => forbidden.has(running))).toEqual([]);
          for (const running of responses.running) expect(unsettled).toContain(running);
        });
        charge(responses.settle(at));
        expect([...unsettled]).toEqual([]);
        expect(new Set(charged).size).toBe(charged.length);
      },
    ),
  );
});
