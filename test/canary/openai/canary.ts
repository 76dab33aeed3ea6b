import { Lab, Refused, type LabOptions } from './lab.ts';
import { liveQuestions } from './live-questions.ts';
import type { Question } from './question.ts';
import { realtimeQuestions } from './realtime-questions.ts';
import { settingsQuestions } from './settings-questions.ts';
import { turnQuestions } from './turn-questions.ts';

export interface CanaryOptions extends LabOptions {
  /** Names of the questions to ask; undefined asks all of them. */
  readonly only?: readonly string[] | undefined;
  readonly say: (line: string) => void;
}

/** $0.50. */
export const BUDGET_MICRO_DOLLARS = 500_000;

export const questions: readonly Question[] = [
  ...realtimeQuestions,
  ...settingsQuestions,
  ...turnQuestions,
  ...liveQuestions,
];

/** Asks one question after another; a question's maximum cost is taken from the budget first. @returns the answers, also as a table */
export async function runCanary(
  options: CanaryOptions,
): Promise<{ readonly answers: ReadonlyMap<string, string>; readonly text: string; readonly isClean: boolean }> {
  const lab = new Lab(options);
  const answers = new Map<string, string>();
  let left = BUDGET_MICRO_DOLLARS;
  let isClean = true;
  const isChosen = ({ name }: Question): boolean => options.only?.includes(name) ?? true;
  for (const question of questions.filter(isChosen)) {
    if (options.signal?.aborted) break;
    if (question.microDollars > left) {
      answers.set(question.name, 'not asked: it could cost more than is left of $0.50');
      continue;
    }
    left -= question.microDollars;
    options.say(question.asks);
    answers.set(question.name, await answerOf(question, lab));
    if (!(await lab.endAll())) {
      isClean = false;
      options.say('A call could not be ended, and may cost on: see the dashboard of the provider.');
      break;
    }
  }
  const rows = questions.flatMap(({ name, asks }) => {
    const answer = answers.get(name);
    return answer === undefined ? [] : [`| ${name} | ${asks} | ${answer} |`];
  });
  const spent = dollars(BUDGET_MICRO_DOLLARS - left);
  return {
    answers,
    text: ['', '| | question | answer |', '|---|---|---|', ...rows, '', `At most ${spent} spent.`].join('\n'),
    isClean,
  };
}

export function listQuestions(): string {
  return questions
    .map(({ name, asks, microDollars }) => `${name.padEnd(18)} at most ${dollars(microDollars)}  ${asks}`)
    .join('\n');
}

function dollars(microDollars: number): string {
  return `$${(microDollars / 1_000_000).toFixed(3)}`;
}

/** The answer in our own words and the provider's codes only, because the provider's sentences may quote the key. */
async function answerOf(question: Question, lab: Lab): Promise<string> {
  try {
    return await question.ask(lab);
  } catch (error) {
    const why = error instanceof Refused ? error.message : error instanceof Error ? error.name : 'a fault';
    return `no answer: ${why}`;
  }
}
