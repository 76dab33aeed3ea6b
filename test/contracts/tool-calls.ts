import { describe, expect, test } from 'vitest';
import type { ToolCallRecord } from '../../machines/tool-call/types.ts';
import { randomId } from '../../src/kernel/ids.ts';
import type { ToolCalls, VoiceCalls } from '../../src/stores/voice-calls/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';
import { call } from './voice-calls.ts';

interface Stores {
  readonly calls: VoiceCalls;
  readonly tools: ToolCalls;
}

function toolCall(callId: string, changes: Partial<ToolCallRecord> = {}): ToolCallRecord {
  return {
    id: `tool_${randomId()}`,
    callId,
    toolCallId: `call_${randomId()}`,
    sessionId: `s:${randomId()}`,
    name: 'lookup',
    state: 'asked',
    askedAtMs: DAY_BEGIN,
    untilMs: DAY_BEGIN + 8000,
    tries: 0,
    code: null,
    detail: null,
    ms: null,
    bytes: null,
    endReason: null,
    fence: 1,
    version: 1,
    ...changes,
  };
}

function answered(record: ToolCallRecord): ToolCallRecord {
  return { ...record, state: 'answered', tries: 1, ms: 40, bytes: 12, version: record.version + 1 };
}

export function toolCallsContract(name: string, make: Make<Stores>): void {
  describe(`calls of tools, ${name}`, () => {
    const stores = nodesOf(make);
    const tools = (): ToolCalls => stores().tools;
    /** @returns the outcome of the insert */
    const insert = async (record: ToolCallRecord, most = 50) => (await tools().insert([record], most))[0];

    /** A voice call of the first owner, and a tool call in it. */
    async function asked(changes: Partial<ToolCallRecord> = {}): Promise<ToolCallRecord> {
      const voiceCall = call();
      await stores().calls.insert(voiceCall, 1);
      return toolCall(voiceCall.id, changes);
    }

    test('a tool call is loaded as it was inserted, and an unknown one is not found', async () => {
      const record = await asked();
      expect(await tools().load(record.id)).toBeUndefined();
      expect(await insert(record)).toBe('inserted');
      expect(await tools().load(record.id)).toEqual(record);
    });

    test('of concurrent inserts of the same tool call one succeeds, whatever their ids', async () => {
      const record = await asked();
      const told = await atOnce(RACERS, () => insert({ ...record, id: `tool_${randomId()}` }, 500));
      expect(told.filter((one) => one === 'inserted')).toHaveLength(1);
      expect(new Set(told)).toEqual(new Set(['inserted', 'taken']));
    });

    test('a save over the expected version replaces it, once', async () => {
      const record = await asked();
      await insert(record);
      const saved = await atOnce(RACERS, () => tools().save(answered(record), record.version));
      expect(saved.filter(Boolean)).toHaveLength(1);
      expect(await tools().save(answered(record), 7)).toBe(false);
      expect(await tools().load(record.id)).toEqual(answered(record));
    });

    test('a node that lost the voice call can neither insert nor save, while the one that took it over can', async () => {
      const record = await asked();
      await insert(record);
      const voiceCall = await stores().calls.load(record.callId);
      expect(voiceCall).toBeDefined();
      await stores().calls.save({ ...call(voiceCall), fence: 2, version: 2 }, 1);
      expect(await tools().save(answered(record), 1)).toBe(false);
      expect(await insert(toolCall(record.callId))).toBe('taken');
      expect(await tools().load(record.id)).toEqual(record);
      const taken = { ...record, fence: 2, version: 2 };
      expect(await tools().save(taken, 1)).toBe(true);
      expect(await insert(toolCall(record.callId, { fence: 2 }))).toBe('inserted');
    });

    test("a session's limit holds over all its voice calls, independently of other sessions", async () => {
      const [first, other] = [await asked({ sessionId: 'busy' + randomId() }), await asked()];
      const { sessionId } = first;
      expect(await insert(first, 2)).toBe('inserted');
      expect(await insert(toolCall(other.callId, { sessionId }), 2)).toBe('inserted');
      expect(await insert(toolCall(first.callId, { sessionId }), 2)).toBe('too_many');
      expect(await insert(first, 2)).toBe('taken');
      expect(await insert(other, 2)).toBe('inserted');
    });

    test("the tool calls of one response are inserted together, up to the session's limit, each id once", async () => {
      const first = await asked();
      const { callId, sessionId } = first;
      const others = Array.from({ length: 4 }, () => toolCall(callId, { sessionId }));
      await insert(first);
      const again = { ...first, id: `tool_${randomId()}` };
      const told = await tools().insert([...others.slice(0, 2), again, first, ...others.slice(2)], 4);
      expect(told).toEqual(['inserted', 'inserted', 'taken', 'taken', 'inserted', 'too_many']);
      const kept = (await tools().ofSession(sessionId)).map(({ id }) => id);
      expect(kept.toSorted()).toEqual([first, ...others.slice(0, 3)].map(({ id }) => id).toSorted());
    });

    test('all tool calls of a session are found, in the order in which they were asked', async () => {
      const first = await asked();
      const { callId, sessionId } = first;
      const second = toolCall(callId, { sessionId, askedAtMs: DAY_BEGIN + 1, state: 'running', tries: 1 });
      const third = toolCall(callId, { sessionId, askedAtMs: DAY_BEGIN + 2 });
      for (const record of [third, first, second]) await insert(record);
      await tools().save(answered(first), 1);
      expect(await tools().ofSession(sessionId)).toEqual([answered(first), second, third]);
      expect(await tools().ofSession('unknown')).toEqual([]);
      const ending = { ...second, state: 'answered', endReason: 'order_closed', version: second.version + 1 } as const;
      expect(await tools().save(ending, second.version)).toBe(true);
      const broken = { ...third, state: 'failed', code: 'failed', detail: 'status 500', version: 2 } as const;
      expect(await tools().save(broken, 1)).toBe(true);
      expect(await tools().ofSession(sessionId)).toEqual([answered(first), ending, broken]);
    });
  });
}
