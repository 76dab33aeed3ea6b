import type { Ear } from './ear.ts';
import type { Lab, LabCall } from './lab.ts';
import type { Question } from './question.ts';
import { describeEvent, readyCall, updateSession } from './ready-call.ts';

/** For a short response in audio, which the provider may make although it should not. */
const ONE_RESPONSE = 20_000;
/** For a response of at most `LONG_TOKENS`. */
const LONG_RESPONSE = 40_000;
/** Half a minute of audio, which is interrupted before all of it has been played. */
const LONG_TOKENS = 600;
/** More than the tenth of a second that a turn needs, and long enough to count as speech. */
const SPEECH_MS = 1000;

const INTERRUPTED = ['conversation.item.truncated', 'output_audio_buffer.cleared', 'response.done'];

/** The visitor only makes noise, which passes for speech at a low threshold; it must cause no response. */
const EASILY = { type: 'server_vad', threshold: 0.1, create_response: false, interrupt_response: true };

/** What happens to turns that a client ends itself, and to turns in which the visitor interrupts the agent. */
export const turnQuestions: readonly Question[] = [
  {
    name: 'push-to-talk',
    asks: 'With turn_detection: null, what follows a commit of nothing, and a commit of speech: is it confirmed, and does a response come by itself?',
    microDollars: ONE_RESPONSE,
    async ask(lab) {
      const { call, ear } = await readyCall(lab);
      if (!call.isConnected) return NOT_CONNECTED;
      await updateSession(lab, ear, { audio: { input: { turn_detection: null } } });
      // Clear and commit follow each other at once, because the visitor's browser always sends something, if only silence.
      ear.send({ type: 'input_audio_buffer.clear' });
      const ofNothing = await commit(lab, ear);
      await call.browser.speak(SPEECH_MS);
      const ofSpeech = await commit(lab, ear);
      const { quietMs } = lab.options;
      const response = await ear.next((type) => type === 'response.created', quietMs);
      ear.close();
      const byItself = response === undefined ? `none within ${quietMs / 1000} s` : 'yes';
      return `of nothing: ${ofNothing}; of ${SPEECH_MS} ms: ${ofSpeech}; a response by itself: ${byItself}`;
    },
  },
  {
    name: 'interrupt',
    asks: 'In which order do truncated, cleared and done come when a sideband cuts off what is played (response.cancel, then output_audio_buffer.clear)?',
    microDollars: LONG_RESPONSE,
    ask: (lab) =>
      interruptBy(lab, null, (_call, ear) => {
        ear.send({ type: 'response.cancel' });
        ear.send({ type: 'output_audio_buffer.clear' });
      }),
  },
  {
    name: 'speak-over',
    asks: 'In which order do truncated, cleared and done come when the visitor speaks over what is played?',
    microDollars: LONG_RESPONSE,
    ask: (lab) => interruptBy(lab, EASILY, ({ browser }) => browser.speak(SPEECH_MS)),
  },
];

const NOT_CONNECTED = 'no answer: the media connection did not come up';

async function commit(lab: Lab, ear: Ear): Promise<string> {
  ear.send({ type: 'input_audio_buffer.commit' });
  return describeEvent(await lab.next(ear, 'input_audio_buffer.committed', 'error'));
}

/** Makes the agent say much, and interrupts it once it is heard. @returns the resulting events in order */
async function interruptBy(
  lab: Lab,
  turn_detection: object | null,
  interrupt: (call: LabCall, ear: Ear) => unknown,
): Promise<string> {
  const { call, ear } = await readyCall(lab, LONG_TOKENS);
  if (!call.isConnected) return NOT_CONNECTED;
  await updateSession(lab, ear, { audio: { input: { turn_detection } } });
  const instructions = 'Say the numbers from one to one hundred.';
  ear.send({ type: 'response.create', response: { output_modalities: ['audio'], instructions } });
  const heard = await lab.next(ear, 'output_audio_buffer.started', 'response.done', 'error');
  if (heard?.frame.type !== 'output_audio_buffer.started')
    return `no answer: nothing was played: ${describeEvent(heard)}`;
  await interrupt(call, ear);
  const told: string[] = [];
  const missing = new Set(INTERRUPTED);
  while (missing.size > 0) {
    const next = await lab.next(ear, 'input_audio_buffer.speech_started', ...INTERRUPTED, 'error');
    if (next === undefined) break;
    missing.delete(next.frame.type);
    told.push(describeEvent(next));
  }
  ear.close();
  return [...told, ...[...missing].map((type) => `no ${type}`)].join(', ');
}
