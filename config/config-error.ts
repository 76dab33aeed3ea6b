import { variables } from './variables.ts';

/** One thing that is wrong with the environment. */
export interface Problem {
  readonly name: string;
  readonly message: string;
  /** A value that is valid here, if the variable's own example is not. */
  readonly example?: string;
}

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
