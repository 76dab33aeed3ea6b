import type { Behaviour } from '../../../src/protocol/behaviour.ts';
import { describeBehaviour } from '../../../src/upstream/behaviour.ts';
import {
  toldSession,
  describeCall,
  describeRestoration,
  type CallSetup,
} from '../../../src/upstream/realtime-session.ts';
import type { Ear } from './ear.ts';
import { Refused, type Lab, type LabCall } from './lab.ts';
import type { Question } from './question.ts';
import { describeEvent, sendUpdate } from './ready-call.ts';

/** Every setting of an agent that the provider is told (docs/agents.md), with each value that is spelled differently there. */
export const settings: readonly Behaviour[] = [
  { turns: { detect: 'push' } },
  { turns: { detect: 'silence', silenceMs: 700, interrupt: true } },
  { turns: { detect: 'semantic', eagerness: 'low', interrupt: false } },
  { transcribe: false },
  { transcribe: { model: 'gpt-transcribe', words: ['Lascaux', 'Altamira'] }, language: 'pt-BR' },
  { noise: 'off' },
  { noise: 'far' },
  { noise: 'near' },
  { speed: 1.2 },
  { effort: 'minimal' },
  { effort: 'high' },
  { effort: 'medium' },
  { effort: 'low' },
  { extra: { tracing: null } },
];

const setup: Omit<CallSetup, 'model'> = {
  voice: 'marin',
  instructions: 'Answer in one sentence.',
  tools: [{ kind: 'http_tool', name: 'lookup', description: 'Finds an order.', parameters: { type: 'object' } }],
  behaviour: Object.assign({}, ...settings) as Behaviour,
  maxOutputTokens: 200,
};

/** The parts of a session that are asked for one by one: those of an agent's settings, and those that Switchboard sets itself. */
function parts(): readonly (readonly [name: string, part: object])[] {
  const { type: _, ...restored } = describeRestoration({ ...setup, model: '', behaviour: null });
  const own = Object.entries(restored).map(([name, value]) => [name, { [name]: value }] as const);
  return [...settings.map((each) => [JSON.stringify(each), describeBehaviour('openai', each)] as const), ...own];
}

/** Whether the provider still takes what agents are made of; it is asked of one call in which nothing is said. */
export const settingsQuestions: readonly Question[] = [
  {
    name: 'agent-settings',
    asks: 'Are all settings of an agent taken: together in a new call, and each in an update?',
    microDollars: 0,
    async ask(lab) {
      const { call, answer } = await open(lab);
      const ear = await lab.attach(call);
      const refused: string[] = [];
      for (const [name, part] of parts()) {
        const why = await refusalOf(lab, ear, part);
        if (why !== undefined) refused.push(`${name}: ${why}`);
      }
      ear.close();
      return `together: ${answer}; each: ${refused.length === 0 ? 'taken' : `taken but for ${refused.join(', ')}`}`;
    },
  },
];

/** Opens a call with all settings; without them if they are refused. */
async function open(lab: Lab): Promise<{ readonly call: LabCall; readonly answer: string }> {
  const session = describeCall({ ...setup, model: lab.options.model });
  try {
    return { call: await lab.call(lab.options.apiKey, true, session), answer: 'taken' };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { call: await lab.call(), answer: error.message };
  }
}

/** @returns why a part of the session is not as it was asked for; undefined if it is */
async function refusalOf(lab: Lab, ear: Ear, part: object): Promise<string | undefined> {
  const heard = await sendUpdate(lab, ear, part);
  if (heard?.frame.type !== 'session.updated') return describeEvent(heard);
  return isIn(part, toldSession(heard.frame)) ? undefined : 'ignored';
}

/** Whether a session has what was asked for, whatever else the provider reports of it. */
function isIn(asked: unknown, told: unknown): boolean {
  if (asked === null) return (told ?? null) === null;
  if (typeof asked !== 'object') return asked === told;
  if (typeof told !== 'object' || told === null) return false;
  return Object.entries(asked).every(([name, value]) => isIn(value, (told as Record<string, unknown>)[name]));
}
