import { limits } from '../settings.ts';
import type { Story } from '../stories.ts';

/**
 * At no moment does a subject hold more sessions than it may. A session counts from the answer to its create to the first moment at
 * which it may have given up its slot, so that every violation found is certain.
 */
export function checkSlots(stories: ReadonlyMap<string, Story>): string[] {
  const bySubject = new Map<string, Story[]>();
  for (const story of stories.values())
    if (story.engagedUntil > story.openedAt)
      bySubject.set(story.subject, [...(bySubject.get(story.subject) ?? []), story]);
  return [...bySubject.values()].flatMap((held) => {
    const worst = mostAtOnce(held);
    if (worst.count <= limits.concurrentSessions) return [];
    const at = new Date(worst.at).toISOString();
    return [
      `${held[0]?.email} held ${worst.count} sessions at ${at}, ${limits.concurrentSessions} are allowed: ${worst.ids.join(' ')}`,
    ];
  });
}

interface Crowd {
  readonly at: number;
  readonly count: number;
  readonly ids: readonly string[];
}

function mostAtOnce(held: readonly Story[]): Crowd {
  let worst: Crowd = { at: 0, count: 0, ids: [] };
  for (const { openedAt } of held) {
    const open = held.filter((story) => story.openedAt <= openedAt && openedAt < story.engagedUntil);
    if (open.length > worst.count) worst = { at: openedAt, count: open.length, ids: open.map(({ id }) => id) };
  }
  return worst;
}
