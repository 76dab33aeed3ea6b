import * as fc from 'fast-check';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { DueAt, VoiceRegistry } from '../../src/stores/voice-registry/contract.ts';
import { DAY_BEGIN, endedRecord, voiceRecord } from './support.ts';

interface Step {
  readonly act: 'insert' | 'beat' | 'end' | 'remove' | 'sweep' | 'pass';
  readonly who: number;
  readonly ms: number;
}

/** Few ids, and times that coincide, so that most steps have an effect. */
export const histories: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    act: fc.constantFrom('insert', 'insert', 'beat', 'end', 'remove', 'sweep', 'pass'),
    who: fc.nat(5),
    ms: fc.nat(8_000),
  }),
  { maxLength: 60 },
);

/** The answer to each step, and what the indexes contain after it. Removes its records at the end. */
export async function play(registry: VoiceRegistry, subject: string, history: readonly Step[], leaseMs: number) {
  const answers: unknown[] = [];
  const idOf = (who: number) => `s:${subject}:${who}`;
  let now = DAY_BEGIN;
  for (const { act, who, ms } of history) {
    const present = await registry.load(idOf(who));
    if (act === 'pass') now += ms;
    if (act === 'insert') {
      answers.push(
        await registry.insert(voiceRecord({ id: idOf(who), subject, keyId: subject, lastActivityAtMs: now })),
      );
    }
    if (act === 'remove') await registry.remove(idOf(who));
    if (act === 'sweep') answers.push(mine(await registry.claimDue(now, 10_000, leaseMs), subject));
    if (act === 'beat' && present?.endedAtMs === null) {
      // With and without a heard call, with and without due words: the compact form writes and reads each of the two separately.
      const told = { heardUntilMs: ms % 3 === 0 ? 0 : now, wordsDueAtMs: ms % 2 === 0 ? 0 : now };
      const next = { ...present, ...told, lastActivityAtMs: now - ms, version: present.version + 1 };
      answers.push(await registry.save(next, present.version));
    }
    if (act === 'end' && present?.endedAtMs === null)
      answers.push(await registry.save(endedRecord(present), present.version));
    answers.push(
      await registry.load(idOf(who)),
      [...(await registry.ofSubject(subject))].sort(),
      [...(await registry.ofKey('acme', subject))].sort(),
    );
  }
  for (let who = 0; who < 6; who += 1) await registry.remove(idOf(who));
  return answers;
}

function mine(ids: readonly string[], subject: string): string[] {
  return ids.filter((id) => id.startsWith(`s:${subject}:`)).sort();
}

/** The registry, written as simply as possible. */
export function createModel(dueAt: DueAt): VoiceRegistry {
  const records = new Map<string, VoiceRecord>();
  const claims = new Map<string, number>();
  const ids = (isMeant: (record: VoiceRecord) => boolean) =>
    [...records.values()].filter((record) => record.endedAtMs === null && isMeant(record)).map(({ id }) => id);
  return {
    mayBeOld: () => false,
    load: (id) => records.get(id),
    recall: (id) => records.get(id),
    insert(record) {
      const isNew = !records.has(record.id);
      if (isNew) records.set(record.id, record);
      return isNew;
    },
    save(record, expectedVersion) {
      if (records.get(record.id)?.version !== expectedVersion) return false;
      records.set(record.id, record);
      claims.delete(record.id);
      return true;
    },
    remove(id) {
      records.delete(id);
      claims.delete(id);
    },
    claimDue(atMs, limit, leaseMs) {
      const due = ids((record) => dueAt(record) <= atMs && (claims.get(record.id) ?? 0) <= atMs).slice(0, limit);
      for (const id of due) claims.set(id, atMs + leaseMs);
      return due;
    },
    postpone: () => undefined,
    ofSubject: (subject) => ids((record) => record.subject === subject),
    ofKey: (tenantId, keyId) => ids((record) => record.tenantId === tenantId && record.keyId === keyId),
    size: () => records.size,
  };
}
