import type { ToldEvent } from './channel.ts';
import type { EchoSetup } from './events.ts';
import { describeHeard, wordByWord } from './words.ts';

/** A session in the form in which events of OpenAI's realtime API contain it. */
export function describeSession({ model, voice, instructions, tools }: EchoSetup): Readonly<Record<string, unknown>> {
  return {
    model,
    ...(instructions !== undefined && { instructions }),
    audio: { output: { voice } },
    tools: tools.map(({ name }) => ({ type: 'function', name })),
  };
}

/** A response in the same form. */
export function describeResponse(id: string, status: 'in_progress' | 'completed' | 'cancelled'): object {
  return { object: 'realtime.response', id, status, output: [] };
}

/** The events with which the API reports what a visitor said for `ms` milliseconds. @param isTranscribed whether the session asks for a transcript */
export function describeTurn(item_id: string, ms: number, isTranscribed: boolean): readonly ToldEvent[] {
  const content = [{ type: 'input_audio', transcript: null }];
  const item = { id: item_id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user', content };
  const turn: readonly ToldEvent[] = [
    { type: 'input_audio_buffer.committed', previous_item_id: null, item_id },
    { type: 'conversation.item.added', previous_item_id: null, item },
  ];
  if (!isTranscribed) return turn;
  const transcript = describeHeard(ms);
  const tell = (step: string, words: object): ToldEvent => ({
    type: `conversation.item.input_audio_transcription.${step}`,
    item_id,
    content_index: 0,
    ...words,
  });
  return [
    ...turn,
    ...wordByWord(transcript).map((delta) => tell('delta', { delta })),
    tell('completed', { transcript }),
  ];
}
