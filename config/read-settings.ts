import type { z } from 'zod';
import { findContradictions } from './contradictions.ts';
import { variables, type Settings, type VariableName } from './env.ts';
import type { Variable } from './variables.ts';

/** One thing that is wrong with the environment. */
interface Problem {
  readonly name: VariableName;
  readonly message: string;
}

/** All that is wrong with the environment, told at once. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ name, message }) => {
      const { meaning, example } = variables[name];
      return `  ${name}: ${message}\n      what it is for: ${meaning}\n      example: ${name}=${example}`;
    });
    super(`The configuration is not complete or not valid:\n\n${lines.join('\n')}\n`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const names = Object.keys(variables) as VariableName[];

/**
 * Reads every variable; an empty one counts as unset.
 * @param needed of what production requires; a command that only asks the database needs no more than that
 * @throws ConfigError with all problems, each with the variable's name, what it is for and an example.
 */
export function readSettings(env: NodeJS.ProcessEnv, needed: readonly VariableName[] = names): Settings {
  const problems: Problem[] = [];
  const settings: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(variables) as [VariableName, Variable<unknown>][]) {
    const text = env[name]?.trim();
    const result = schema.safeParse(text === '' ? undefined : text);
    if (result.success) settings[name] = result.data;
    else problems.push({ name, message: explain(name, text, result.error) });
  }
  const read = settings as Settings;
  const known = new Set(problems.map(({ name }) => name));
  problems.push(...[...findMissing(read, needed), ...findContradictions(read)].filter(({ name }) => !known.has(name)));
  if (problems.length > 0) throw new ConfigError(problems);
  return read;
}

/** What is wrong, with the value that was found, unless it is a secret or an address that may hold a password. */
function explain(name: VariableName, text: string | undefined, error: z.ZodError): string {
  const messages = [...new Set(error.issues.map((issue) => issue.message))].join('; ');
  const isPrivate = variables[name].secret || text === undefined || text.includes('://');
  const isNamed = messages.includes('"');
  return isPrivate || isNamed ? messages : `${messages}, not "${text}"`;
}

function findMissing(settings: Settings, needed: readonly VariableName[]): Problem[] {
  if (settings.NODE_ENV !== 'production') return [];
  return needed
    .filter((name) => variables[name].requiredInProduction && settings[name] === undefined)
    .filter((name) => name !== 'OPENAI_API_KEY' || settings.UPSTREAM_PROVIDER !== 'local')
    .map((name) => ({ name, message: 'is missing and production needs it' }));
}
