import { assertEvent, assign, emit, setup } from 'xstate';
import { reachedOf } from './selectors.ts';
import type { BudgetEvent, BudgetFact, BudgetRecord, UsedEvent } from './types.ts';

function used(event: BudgetEvent): UsedEvent {
  assertEvent(event, 'USED');
  return event;
}

function reached(event: BudgetEvent): number {
  const { percent, warnAt } = used(event);
  return reachedOf(percent, warnAt);
}

/**
 * When operators are told about a budget in one period: once for each threshold (if one entry passes several, only for the highest), and nothing
 * twice unless a new version of the budget makes it new. Usage never falls within a period, so only a change of the budget lowers its used share. The
 * end of the period is told only if something was told in it.
 */
export const budgetMachine = setup({
  types: {
    context: {} as BudgetRecord,
    events: {} as BudgetEvent,
    emitted: {} as BudgetFact,
  },
  guards: {
    isOver: ({ context: { resetAtMs }, event }) => resetAtMs !== null && event.at >= resetAtMs,
    isSpent: ({ event }) => used(event).percent >= 100,
    isHigher: ({ context, event }) => reached(event) > context.toldPercent,
    /** A node that has not heard of a change yet still judges by the previous version of the budget. */
    isOutdated: ({ context, event }) => used(event).budgetVersion < context.budgetVersion,
    isNewer: ({ context, event }) => used(event).budgetVersion > context.budgetVersion,
    isLeftAgain: ({ context, event }) => used(event).budgetVersion > context.budgetVersion && used(event).percent < 100,
    isCleared: ({ context, event }) => used(event).budgetVersion > context.budgetVersion && reached(event) === 0,
  },
  actions: {
    warn: assign(({ context, event }) => ({
      toldPercent: reached(event),
      exceededAtMs: null,
      budgetVersion: Math.max(context.budgetVersion, used(event).budgetVersion),
      version: context.version + 1,
    })),
    exceed: assign(({ context, event }) => ({
      toldPercent: 100,
      exceededAtMs: event.at,
      budgetVersion: Math.max(context.budgetVersion, used(event).budgetVersion),
      version: context.version + 1,
    })),
    close: assign(({ context: { resetAtMs, version } }) => ({ closedAtMs: resetAtMs, version: version + 1 })),
    tellWarned: emit(({ context, event }) => ({
      type: 'budget.warned' as const,
      at: event.at,
      percent: context.toldPercent,
    })),
    tellExceeded: emit(({ event }) => ({ type: 'budget.exceeded' as const, at: event.at })),
    tellRaised: emit(({ event }) => ({ type: 'budget.raised' as const, at: event.at })),
    tellReset: emit(({ context, event }) => ({ type: 'budget.reset' as const, at: context.resetAtMs ?? event.at })),
  },
}).createMachine({
  id: 'budget',
  // The first event's sender supplies it: no record is stored before there is something to tell.
  context: {} as BudgetRecord,
  initial: 'open',
  states: {
    open: {
      on: {
        USED: [
          { guard: 'isOver', target: 'closed' },
          { guard: 'isOutdated' },
          { guard: 'isSpent', target: 'exceeded', actions: ['exceed', 'tellExceeded'] },
          { guard: 'isHigher', target: 'warned', actions: ['warn', 'tellWarned'] },
        ],
      },
    },
    warned: {
      on: {
        USED: [
          { guard: 'isOver', target: 'closed' },
          { guard: 'isOutdated' },
          { guard: 'isSpent', target: 'exceeded', actions: ['exceed', 'tellExceeded'] },
          { guard: 'isHigher', actions: ['warn', 'tellWarned'] },
          { guard: 'isCleared', target: 'open', actions: 'warn' },
          { guard: 'isNewer', actions: 'warn' },
        ],
        CLOCK: { guard: 'isOver', target: 'closed', actions: ['close', 'tellReset'] },
      },
    },
    exceeded: {
      on: {
        USED: [
          { guard: 'isOver', target: 'closed' },
          { guard: 'isOutdated' },
          { guard: 'isSpent' },
          { guard: 'isCleared', target: 'open', actions: ['warn', 'tellRaised'] },
          { guard: 'isLeftAgain', target: 'warned', actions: ['warn', 'tellRaised'] },
        ],
        CLOCK: { guard: 'isOver', target: 'closed', actions: ['close', 'tellReset'] },
      },
    },
    closed: { type: 'final' },
  },
});
