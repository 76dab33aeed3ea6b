import { post } from './api.ts';

/** Sends words to the agent of a session. @returns why that failed, in words; undefined if it worked */
export async function whisper(session: string, text: string): Promise<string | undefined> {
  const answer = await post<object>(`/api/operator/sessions/${session}/whisper`, { text });
  if (answer.ok) return undefined;
  const { failure } = answer;
  if (failure.kind === 'refused') return failure.error;
  if (failure.kind === 'login') return 'Your login is over.';
  return failure.kind === 'missing'
    ? 'There is no such session any more.'
    : 'The service did not answer: the agent may or may not have been told.';
}
