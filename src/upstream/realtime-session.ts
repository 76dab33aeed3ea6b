import { z } from 'zod';
import { describeBehaviour, instructionsWith, merged } from './behaviour.ts';
import type { CallFrame } from './call-socket.ts';
import { MAX_CONTEXT_TOKENS, type CallRequest, type MintRequest, type NewItem } from './contract.ts';

// A session in the form of OpenAI's realtime API: how it is described to the provider, and how what the provider reports is compared with that.

const KEPT_SHARE = 0.8;
/** Stands for every provider that speaks OpenAI's realtime API. */
const REALTIME = 'openai';

type Setup = Pick<MintRequest, 'model' | 'voice' | 'instructions' | 'tools' | 'behaviour'>;
/** What a call was created with. */
export type CallSetup = Setup & Pick<CallRequest, 'maxOutputTokens'>;

/** A session in the form of OpenAI's realtime API. */
function describeSession({ model, voice, tools, behaviour, ...setup }: Setup): object {
  const instructions = instructionsWith(setup.instructions, behaviour);
  const session = {
    type: 'realtime',
    model,
    ...(instructions !== '' && { instructions }),
    audio: { output: { voice } },
    ...(tools.length > 0 ? { tools: tools.map(asFunctionTool) } : {}),
  };
  return merged(session, describeBehaviour(REALTIME, behaviour));
}

/** A session that a page opens itself. The page asks the agent to speak first, so the instructions contain the words of the greeting. */
export function describeMint(setup: Setup): object {
  const { greeting } = setup.behaviour ?? {};
  if (greeting === undefined || greeting === true) return describeSession(setup);
  const greet = `As long as the visitor has said nothing, say exactly: ${greeting}`;
  return describeSession({ ...setup, instructions: `${setup.instructions ?? ''}\n${greet}`.trim() });
}

export function describeCall(setup: CallSetup): object {
  return { ...describeSession(setup), ...describeLimit(setup.maxOutputTokens), truncation };
}

const truncation = {
  type: 'retention_ratio',
  retention_ratio: KEPT_SHARE,
  token_limits: { post_instructions: MAX_CONTEXT_TOKENS },
};

/** The part of a session that limits its responses. */
export function describeLimit(maxOutputTokens: number | undefined): object {
  return maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens };
}

/**
 * Everything that a page could have changed of what a call was created with. Model and voice cannot be changed, and the speed only while the agent is
 * silent: an update that contains a speed could be refused as a whole, see `describeSpeed`.
 */
export function describeRestoration({ instructions, tools, behaviour, maxOutputTokens }: CallSetup) {
  return {
    ...describeBehaviour(REALTIME, behaviour === null ? null : { ...behaviour, speed: undefined }),
    type: 'realtime',
    output_modalities: ['audio'],
    instructions: instructionsWith(instructions, behaviour),
    tools: tools.map(asFunctionTool),
    tool_choice: 'auto',
    max_output_tokens: maxOutputTokens ?? 'inf',
    truncation,
  };
}

/** The part of a restoration that a provider refuses while the agent speaks; undefined where the agent has no speed set. */
export function describeSpeed({ behaviour }: CallSetup): object | undefined {
  const { speed } = behaviour ?? {};
  return speed === undefined ? undefined : { type: 'realtime', ...describeBehaviour(REALTIME, { speed }) };
}

export function describeItem(item: NewItem): object {
  const id = item.id === undefined ? {} : { id: item.id };
  return item.type === 'message'
    ? { ...id, type: 'message', role: item.role, content: [{ type: 'input_text', text: item.text }] }
    : { ...id, type: 'function_call_output', call_id: item.callId, output: item.output };
}

/** Only what the model needs: a tool's other fields (addresses, headers) are for the server that runs it, and may be secret. */
function asFunctionTool({ name, description, parameters }: Setup['tools'][number]): object {
  return { type: 'function', name, description, parameters: parameters ?? { type: 'object' } };
}

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
