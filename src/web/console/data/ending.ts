import { signal } from '@preact/signals';
import { post, type Failure } from './api.ts';

/** Sessions that were told to end: "ending…" until a reading says that they have. */
export const ending = signal<ReadonlySet<string>>(new Set());

/** Ends one session. @returns why it was refused, or undefined */
export async function endSession(ref: string, reason: string): Promise<Failure | undefined> {
  ending.value = new Set([...ending.peek(), ref]);
  const answer = await post<object>(`/api/operator/sessions/${ref}/end`, { reason });
  if (answer.ok) return undefined;
  ending.value = new Set([...ending.peek()].filter((each) => each !== ref));
  return answer.failure;
}
