import { z } from 'zod';
import type { CallFrame } from './call-frame.ts';
import { describeRestoration, type CallSetup } from './realtime-session.ts';

/** A whole session as a provider's event repeats it: fields that it leaves out cannot be judged. */
export type ToldSession = Readonly<Record<string, unknown>>;

const updated = z.object({ session: z.record(z.string(), z.unknown()) });
const transcribing = z.object({ audio: z.object({ input: z.object({ transcription: z.looseObject({}) }) }) });
/** The model with which the provider's own SDK transcribes unless its page sets another. */
const SDK_TRANSCRIBER = 'gpt-4o-mini-transcribe';

/** @returns an empty object where the event repeats no session */
export function toldSession(frame: CallFrame): ToldSession {
  return updated.safeParse(frame).data?.session ?? {};
}

/**
 * Which fields of a session differ from what its call was created with. Only what we configure is compared. A page may choose how it is heard and how
 * fast the agent speaks (`audio`: transcription, turns), and its traces; and a limit below ours costs less.
 * @param asCreated the fields that the provider reports differently from how we set them, see `spellingOf`
 * @param grantedTokens the highest of our limits that may still apply
 */
export function differingFields(
  told: ToldSession,
  setup: CallSetup,
  asCreated: ToldSession | undefined,
  grantedTokens: number,
): readonly string[] {
  const { type: _, max_output_tokens: __, ...expected } = describeRestoration(setup);
  const { audio: ___, ...guarded }: ToldSession = { ...expected, prompt: null };
  const differing = Object.keys(guarded).filter(
    (name) =>
      told[name] !== undefined &&
      !isSame(told[name], guarded[name]) &&
      (asCreated?.[name] === undefined || !isSame(told[name], asCreated[name])),
  );
  return tokensOf(told['max_output_tokens']) > grantedTokens ? [...differing, 'max_output_tokens'] : differing;
}

/** The fields that a provider reports with defaults or in its own spelling, from how it reports a call before its page could change it. */
export function spellingOf(told: ToldSession, setup: CallSetup): ToldSession {
  return Object.fromEntries(differingFields(told, setup, undefined, Infinity).map((name) => [name, told[name]]));
}

/** The output limit that a session reports; 0 where it reports none. */
export function toldTokens(told: ToldSession): number {
  return tokensOf(told['max_output_tokens']);
}

function tokensOf(bound: unknown): number {
  if (bound === 'inf') return Infinity;
  return typeof bound === 'number' ? bound : 0;
}

/**
 * Whether a session is set as the provider's own SDK sets it when it connects. The SDK always sets a transcription, so this is one that differs from
 * the call's own, or that uses the SDK's default model.
 */
export function isAsSdk(told: ToldSession, setup: CallSetup): boolean {
  const transcription = transcriptionOf(told);
  if (transcription === undefined) return false;
  return (
    transcription['model'] === SDK_TRANSCRIBER || !isSame(transcription, transcriptionOf(describeRestoration(setup)))
  );
}

function transcriptionOf(session: object): ToldSession | undefined {
  return transcribing.safeParse(session).data?.audio.input.transcription;
}

/** Whether two JSON values mean the same: the order of fields does not matter, and null equals undefined. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as ToldSession, b as ToldSession];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((name) => isSame(left[name], right[name]));
}
