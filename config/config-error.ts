import { variables } from './variables.ts';

/** One thing that is wrong with the environment. */
export interface Problem {
  readonly name: string;
  readonly message: string;
  /** A value that mends it, where the variable's own example would not. */
  readonly example?: string;
}

/** All that is wrong with the environment, told at once: each variable by its name, with what it is for and an example. */
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
