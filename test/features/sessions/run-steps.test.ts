import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/protocol/refusal.ts';
import { runSteps } from '../../../src/sessions/create/create-session.ts';
import { ANSWERED, type Step } from '../../../src/sessions/create/step.ts';

/** How a step ends: it takes something, takes nothing, has the reply, refuses, or throws. */
type Course = 'takes' | 'passes' | 'answers' | 'refuses' | 'throws';

interface Plan {
  readonly course: Course;
  /** Whether it answers synchronously or with a promise. */
  readonly isAtOnce: boolean;
  readonly undo: 'none' | 'works' | 'throws' | 'rejects';
}

const plans = fc.array(
  fc.record({
    course: fc.constantFrom<Course>('takes', 'takes', 'takes', 'passes', 'answers', 'refuses', 'throws'),
    isAtOnce: fc.boolean(),
    undo: fc.constantFrom<Plan['undo']>('works', 'works', 'none', 'throws', 'rejects'),
  }),
  { maxLength: 12 },
);

/** Numbered steps that log what they do. */
function stepsOf(all: readonly Plan[], log: string[]): Step<object, object>[] {
  return all.map(({ course, isAtOnce, undo }, n) => {
    const come = (): unknown => {
      log.push(`take ${n}`);
      if (course === 'throws') throw new Error(`fault of ${n}`);
      if (course === 'refuses') return new Refusal('CONFLICT', `refused by ${n}`);
      if (course === 'answers') return ANSWERED;
      return course === 'takes' ? n : undefined;
    };
    const step = { name: String(n), take: () => (isAtOnce ? come() : Promise.resolve().then(come)) };
    if (undo === 'none') return step;
    return {
      ...step,
      undo(taken: unknown) {
        log.push(`undo ${String(taken)}`);
        if (undo === 'throws') throw new Error(`undo of ${n}`);
        return undo === 'rejects' ? Promise.reject(new Error(`undo of ${n}`)) : undefined;
      },
    };
  });
}

/** What running the steps should give, derived from their plans alone. */
function expected(all: readonly Plan[]): {
  readonly log: string[];
  readonly faults: string[];
  readonly outcome: string;
} {
  const end = all.findIndex(({ course }) => course !== 'takes' && course !== 'passes');
  const entered = end === -1 ? all : all.slice(0, end + 1);
  const last = all[end]?.course;
  const taken = entered.flatMap(({ course, undo }, n) => (course === 'takes' && undo !== 'none' ? [n] : []));
  const undone = last === 'refuses' || last === 'throws' ? taken.toReversed() : [];
  return {
    log: [...entered.map((_, n) => `take ${n}`), ...undone.map((n) => `undo ${n}`)],
    faults: undone.flatMap((n) => (all[n]?.undo === 'works' ? [] : [`undo of ${n}`])),
    outcome: last === 'refuses' ? `refused by ${end}` : last === 'throws' ? `fault of ${end}` : 'passed',
  };
}

async function run(all: readonly Plan[]): Promise<ReturnType<typeof expected>> {
  const [log, faults]: [string[], string[]] = [[], []];
  const told = (fault: unknown): number => faults.push((fault as Error).message);
  const outcome = await runSteps(stepsOf(all, log), {}, {}, told).then(
    (refusal) => refusal?.error ?? 'passed',
    (fault: unknown) => (fault as Error).message,
  );
  return { log, faults, outcome };
}

describe('Steps', () => {
  test('that took something are undone once each and the last first, when a later one refuses or throws; no other is', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (all) => {
        expect(await run(all)).toEqual(expected(all));
      }),
    );
  });

  test('that answer at once are taken at once', () => {
    const log: string[] = [];
    const plan = { course: 'takes', isAtOnce: true, undo: 'works' } as const;
    void runSteps(stepsOf([plan, plan, plan], log), {}, {}, () => undefined);
    expect(log).toEqual(['take 0', 'take 1', 'take 2']);
  });

  test('hand what they took to their undo', async () => {
    const given: unknown[] = [];
    const slot: Step<object, object, { readonly place: number }> = {
      name: 'slot',
      take: () => ({ place: 7 }),
      undo: (taken) => given.push(taken),
    };
    const refusal = new Refusal('CONFLICT', 'no');
    expect(await runSteps([slot, { name: 'no', take: () => refusal }], {}, {}, () => undefined)).toBe(refusal);
    expect(given).toEqual([{ place: 7 }]);
  });
});
