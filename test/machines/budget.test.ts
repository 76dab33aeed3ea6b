import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createActor } from 'xstate';
import { budgetMachine } from '../../machines/budget/machine.ts';
import { savedState } from '../../machines/budget/selectors.ts';
import type { BudgetEvent, BudgetFact, BudgetRecord } from '../../machines/budget/types.ts';

const RESET = 1000;
const fresh: BudgetRecord = {
  id: 'acme/march/2030-03/tenant:acme',
  tenantId: 'acme',
  budgetId: 'march',
  period: '2030-03',
  account: 'tenant:acme',
  resetAtMs: RESET,
  toldPercent: 0,
  exceededAtMs: null,
  closedAtMs: null,
  budgetVersion: 1,
  version: 0,
};

/** Sends usage to a record. @returns the record after it, and the facts that the machine emits */
function send(
  record: BudgetRecord,
  percent: number,
  more: { at?: number; warnAt?: readonly number[]; budgetVersion?: number } = {},
) {
  const { at = 7, warnAt = [50, 80], budgetVersion = record.budgetVersion } = more;
  return sendEvent(record, { type: 'USED', at, percent, warnAt, budgetVersion });
}

function sendEvent(record: BudgetRecord, event: BudgetEvent) {
  const facts: BudgetFact[] = [];
  const snapshot = budgetMachine.resolveState({ value: savedState(record), context: record });
  const actor = createActor(budgetMachine, { snapshot });
  actor.on('*', (fact) => facts.push(fact));
  actor.start();
  actor.send(event);
  const { context, value } = actor.getSnapshot();
  return { record: context, state: value, facts };
}

const warned: BudgetRecord = { ...fresh, toldPercent: 50, version: 1 };
const exceeded: BudgetRecord = { ...fresh, toldPercent: 100, exceededAtMs: 3, version: 2 };

describe('A budget', () => {
  test.each([
    ['below the first threshold', fresh, 49, {}, 'open', []],
    ['at a threshold', fresh, 50, {}, 'warned', [{ type: 'budget.warned', at: 7, percent: 50 }]],
    ['over two at once', fresh, 93, {}, 'warned', [{ type: 'budget.warned', at: 7, percent: 80 }]],
    ['over all at once', fresh, 100, {}, 'exceeded', [{ type: 'budget.exceeded', at: 7 }]],
    ['over one that was told', warned, 79, {}, 'warned', []],
    ['over the next one', warned, 80, {}, 'warned', [{ type: 'budget.warned', at: 7, percent: 80 }]],
    ['used up after a warning', warned, 250, {}, 'exceeded', [{ type: 'budget.exceeded', at: 7 }]],
    ['used up further', exceeded, 300, {}, 'exceeded', []],
    ['read lower by a node that knows less', exceeded, 99, {}, 'exceeded', []],
    ['raised', exceeded, 60, { budgetVersion: 2 }, 'warned', [{ type: 'budget.raised', at: 7 }]],
    ['raised far', exceeded, 10, { budgetVersion: 2 }, 'open', [{ type: 'budget.raised', at: 7 }]],
    ['raised too little', exceeded, 100, { budgetVersion: 2 }, 'exceeded', []],
    ['raised too little, without thresholds', exceeded, 100, { budgetVersion: 2, warnAt: [] }, 'exceeded', []],
    ['raised after a warning', warned, 10, { budgetVersion: 2 }, 'open', []],
    ['lowered', warned, 100, { budgetVersion: 2 }, 'exceeded', [{ type: 'budget.exceeded', at: 7 }]],
    [
      'judged by what it was before it was raised',
      { ...fresh, budgetVersion: 2 },
      100,
      { budgetVersion: 1 },
      'open',
      [],
    ],
    ['used after its period', warned, 100, { at: RESET }, 'closed', []],
  ] as const)('that is %s emits what is new', (_, record, percent, more, state, facts) => {
    const told = send(record, percent, more);
    expect(told.facts).toEqual(facts);
    expect(told.state).toBe(state);
    expect(told.record.version).toBe(told.record === record ? record.version : record.version + 1);
  });

  test('that is raised warns again, at its new thresholds', () => {
    const raised = send(exceeded, 40, { budgetVersion: 2 }).record;
    expect(send(raised, 55).facts).toEqual([{ type: 'budget.warned', at: 7, percent: 50 }]);
    expect(send(raised, 100).facts).toEqual([{ type: 'budget.exceeded', at: 7 }]);
  });

  test('whose period never ends never closes', () => {
    expect(send({ ...warned, resetAtMs: null }, 80, { at: 1e12 }).state).toBe('warned');
    expect(sendEvent({ ...warned, resetAtMs: null }, { type: 'CLOCK', at: 1e12 }).facts).toEqual([]);
  });

  test.each([
    ['warned of', warned],
    ['used up', exceeded],
  ])('that was %s emits once that its period is over, dated at the period’s end', (_, record) => {
    expect(sendEvent(record, { type: 'CLOCK', at: RESET - 1 }).facts).toEqual([]);
    const { record: closed, facts, state } = sendEvent(record, { type: 'CLOCK', at: RESET + 30 });
    expect([facts, state]).toEqual([[{ type: 'budget.reset', at: RESET }], 'closed']);
    expect(closed).toEqual({ ...record, closedAtMs: RESET, version: record.version + 1 });
    expect(savedState(closed)).toBe('closed');
  });

  test('that emitted nothing does not emit the end of its period', () => {
    expect(sendEvent(fresh, { type: 'CLOCK', at: RESET })).toMatchObject({ facts: [], record: fresh });
  });

  test('warns once at each threshold, however usage comes, and only at the higher of two', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }),
        (steps, thresholds) => {
          const warnAt = thresholds.toSorted((a, b) => a - b);
          let record = fresh;
          let percent = 0;
          const told: number[] = [];
          for (const step of steps) {
            percent += step;
            const { record: next, facts } = send(record, percent, { warnAt });
            expect(facts.length).toBeLessThanOrEqual(1);
            for (const fact of facts) told.push(fact.type === 'budget.warned' ? fact.percent : 100);
            record = next;
          }
          expect(told).toEqual([...new Set(told)].toSorted((a, b) => a - b));
          const reached = Math.max(0, percent >= 100 ? 100 : 0, ...warnAt.filter((at) => at <= percent));
          expect(told.at(-1) ?? 0).toBe(reached);
        },
      ),
    );
  });
});
