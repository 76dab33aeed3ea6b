import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { overdueTools, withAnswered, withAsked, type PendingTools } from '../../../src/calls/tools/tool-answers.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ asked: fc.constantFrom('r1', 'r2'), calls: fc.array(name, { maxLength: 4 }) }),
  fc.record({ answered: name }),
  fc.record({ passed: fc.integer({ min: 1, max: 20_000 }) }),
);

/** A simple model of which response asked for which tools. */
class Account {
  pending: PendingTools = [];
  at = 0;
  readonly open = new Map<string, string>();
  asked = 0;
  answered = 0;
  readonly wrongs: string[] = [];

  ask(responseId: string, calls: readonly string[]): void {
    const [pending, fresh] = withAsked(
      this.pending,
      responseId,
      calls.map((callId) => ({ callId, untilMs: this.at + 30_000 })),
    );
    this.pending = pending;
    for (const callId of fresh) {
      if (this.open.has(callId)) this.wrongs.push(`${callId} is asked for twice`);
      this.open.set(callId, responseId);
    }
    this.asked += fresh.length;
    if (!calls.every((callId) => this.open.has(callId))) this.wrongs.push('one is not asked for');
  }

  answer(callId: string): void {
    const responseId = this.open.get(callId);
    const [pending, isLast] = withAnswered(this.pending, callId);
    if ((pending !== this.pending) !== (responseId !== undefined))
      this.wrongs.push(`${callId} changes what is pending`);
    this.pending = pending;
    this.open.delete(callId);
    const areAll = responseId !== undefined && ![...this.open.values()].includes(responseId);
    if (isLast !== areAll) this.wrongs.push(`${callId} is the last: ${isLast}`);
    if (responseId !== undefined) this.answered += 1;
  }

  pass(ms: number): void {
    this.at += ms;
    for (const callId of overdueTools(this.pending, this.at)) this.answer(callId);
    if (this.pending.some(({ untilMs }) => untilMs <= this.at)) this.wrongs.push('one is overdue');
  }
}

test('Each tool that is asked for is answered exactly once, and a response is complete with its last answer', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const account = new Account();
      for (const each of steps) {
        if ('passed' in each) account.pass(each.passed);
        else if ('answered' in each) account.answer(each.answered);
        else account.ask(each.asked, each.calls);
      }
      account.pass(30_000);
      expect(account.wrongs).toEqual([]);
      expect(account.pending).toEqual([]);
      expect(account.answered).toBe(account.asked);
    }),
  );
});
