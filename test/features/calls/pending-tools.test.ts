import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTools, overdueTools, withAnswered, withAsked } from '../../../src/calls/tools/pending-tools.ts';

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const step = fc.oneof(
  fc.record({ asked: fc.constantFrom('r1', 'r2'), calls: fc.array(name, { maxLength: 4 }) }),
  fc.record({ answered: name }),
  fc.record({ passed: fc.integer({ min: 1, max: 20_000 }) }),
);

/** A plain account of who asked for what. */
class Account {
  tools = noTools;
  at = 0;
  readonly open = new Map<string, string>();
  asked = 0;
  answered = 0;
  readonly wrongs: string[] = [];

  ask(responseId: string, calls: readonly string[]): void {
    const [tools, fresh] = withAsked(
      this.tools,
      responseId,
      calls.map((callId) => ({ callId, untilMs: this.at + 30_000 })),
    );
    this.tools = tools;
    for (const callId of fresh) {
      if (this.open.has(callId)) this.wrongs.push(`${callId} is asked for twice`);
      this.open.set(callId, responseId);
    }
    this.asked += fresh.length;
    if (!calls.every((callId) => this.open.has(callId))) this.wrongs.push('one is not asked for');
  }

  answer(callId: string): void {
    const responseId = this.open.get(callId);
    const [tools, { isKnown, isLast }] = withAnswered(this.tools, callId);
    this.tools = tools;
    if (isKnown !== (responseId !== undefined)) this.wrongs.push(`${callId} is known: ${isKnown}`);
    this.open.delete(callId);
    const areAll = responseId !== undefined && ![...this.open.values()].includes(responseId);
    if (isLast !== areAll) this.wrongs.push(`${callId} is the last: ${isLast}`);
    if (isKnown) this.answered += 1;
  }

  pass(ms: number): void {
    this.at += ms;
    for (const callId of overdueTools(this.tools, this.at)) this.answer(callId);
    if (this.tools.pending.some(({ untilMs }) => untilMs <= this.at)) this.wrongs.push('one is overdue');
  }
}

test('each tool that is asked for is answered exactly once, and a response is complete with its last answer', () => {
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
      expect(account.tools).toEqual(noTools);
      expect(account.answered).toBe(account.asked);
    }),
  );
});
