import type { EchoSetup } from './events.ts';

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
