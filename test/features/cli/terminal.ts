import type { Terminal } from '../../../src/cli/terminal.ts';

export interface FakeTerminal extends Terminal {
  readonly printed: () => string;
  readonly complained: () => string;
}

/** A terminal that keeps what is written to it. */
export function fakeTerminal(env: NodeJS.ProcessEnv = {}): FakeTerminal {
  const out: string[] = [];
  const err: string[] = [];
  return {
    env,
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
    printed: () => out.join(''),
    complained: () => err.join(''),
  };
}
