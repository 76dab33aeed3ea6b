import { describeBehaviour, instructionsWith, merged } from './behaviour.ts';
import { MAX_CONTEXT_TOKENS, type CallRequest, type MintRequest, type NewItem } from './contract.ts';

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
