import type { z } from 'zod';
import { findContradictions, type Problem } from './contradictions.ts';
import type { Variable } from './variable.ts';
import { readVariables, variables, type Settings, type VariableName } from './variables.ts';

/** The settings by the fields of the table of variables (variables.ts), and values derived from them. */
export type Config = Readonly<ReturnType<typeof complete>>;

/** Everything that is wrong with the environment at once: each variable by its name, with its meaning and an example. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(({ name, message, example }) => {
      const about = variables.find((variable) => variable.name === name);
      return `  ${name}: ${message}\n      what it is for: ${about?.meaning}\n      example: ${name}=${example ?? about?.example}`;
    });
    super(`The configuration is not complete or not valid:\n\n${lines.join('\n')}\n`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads every variable; an empty one counts as unset.
 * @param needed the variables that are required in production; a command that only reads the database needs fewer than the service
 * @throws ConfigError with all problems, each with the variable's name, what it is for and an example.
 */
export function readConfig(env: NodeJS.ProcessEnv, needed?: readonly VariableName[]): Config {
  const textOf = ({ name }: Variable): string | undefined => env[name]?.trim() || undefined;
  const wrong: Problem[] = [];
  const values = new Map<string, unknown>();
  const settings = readVariables((variable) => {
    const text = textOf(variable) ?? variable.default;
    if (text === undefined) return undefined;
    const result = variable.schema.safeParse(text);
    if (!result.success) wrong.push({ name: variable.name, message: explain(variable, text, result.error) });
    values.set(variable.name, result.data);
    return result.data;
  });
  const told = new Set(wrong.map(({ name }) => name));
  const missing = variables.flatMap((variable): Problem[] => {
    const by = textOf(variable) === undefined ? whoNeeds(variable, settings, values, needed) : undefined;
    return by === undefined ? [] : [{ name: variable.name, message: `is missing and ${by}` }];
  });
  const related = [...missing, ...findContradictions(settings)];
  const problems = [...wrong, ...related.filter(({ name }) => !told.has(name))];
  if (problems.length > 0) throw new ConfigError(problems);
  return complete(settings, describeSettings(env), values);
}

/** What is wrong, with the value found, unless it is a secret or an address that may contain a password. */
function explain({ secret }: Variable, text: string, error: z.ZodError): string {
  const messages = [...new Set(error.issues.map((issue) => issue.message))].join('; ');
  const isPrivate = secret !== false || text.includes('://');
  const isNamed = messages.includes('"');
  return isPrivate || isNamed ? messages : `${messages}, not "${text}"`;
}

/** Why the variable is needed, as a text; undefined if it is not. */
function whoNeeds(
  { name, production, workers, neededBy }: Variable,
  settings: Settings,
  values: ReadonlyMap<string, unknown>,
  needed: readonly string[] | undefined,
): string | undefined {
  const [chooser = '', choices = ''] = neededBy?.split('=') ?? [];
  const chosen = values.get(chooser) as string | undefined;
  if (chosen !== undefined && !choices.split('|').includes(chosen)) return undefined;
  if (settings.mode === 'production' && production)
    return needed?.includes(name) === false ? undefined : 'production needs it';
  if (workers && settings.workers > 1) return 'more than one of WORKERS need it';
  return chosen === undefined ? undefined : `${chooser}=${chosen} needs it`;
}

/** A variable as operators see it. For a secret, and for an address that may contain one, they see only whether it is set. */
interface SettingShown {
  readonly name: string;
  /** The value in effect as text; null for a secret, and if nothing is set. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  /** What applies if it is not set, as a text. */
  readonly default: string;
}

function describeSettings(env: NodeJS.ProcessEnv): SettingShown[] {
  return variables.map(({ name, secret, default: fallback, unset }) => {
    const text = env[name]?.trim() || undefined;
    const isSecret = secret !== false;
    return {
      name,
      value: isSecret ? null : (text ?? fallback ?? null),
      isSecret,
      isSet: text !== undefined,
      default: unset,
    };
  });
}

/** Fills in the defaults that depend on other variables. */
function complete(settings: Settings, shown: readonly SettingShown[], values: ReadonlyMap<string, unknown>) {
  const { widget, console, ...others } = settings;
  const { upstream, bots, consoleEmails = ['*'] } = others;
  const isProduction = others.mode === 'production';
  return {
    ...others,
    host: others.host ?? (isProduction ? '0.0.0.0' : '127.0.0.1'),
    /** The variables as operators see them. */
    shown,
    /** The values by the names of the variables. They include secrets: only for comparison, never to be shown. */
    values,
    upstream: { ...upstream, provider: upstream.provider ?? (upstream.apiKeys === undefined ? 'local' : 'openai') },
    bots: { ...bots, provider: bots.provider ?? (isProduction ? 'heuristic' : 'none') },
    callers: { widget, console },
    consoleEmails,
    operatorEmails: others.operatorEmails ?? (isProduction ? [] : ['*']),
    /** True in production if everybody can log in. Then only tenants that name their admins admit console users. */
    needsAdmins: isProduction && consoleEmails.includes('*'),
  };
}
