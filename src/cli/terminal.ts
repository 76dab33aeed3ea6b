/** Where a command writes; tests capture it. */
export interface Output {
  write(text: string): unknown;
}

/** What a command knows of its environment. */
export interface Terminal {
  readonly out: Output;
  /** For errors, and for notes that are not part of the result. */
  readonly err: Output;
  readonly env: NodeJS.ProcessEnv;
}

/** Exit codes; above 1 they are those of sysexits.h, which init systems and scripts know. */
export const exitCode = {
  ok: 0,
  refused: 1,
  usage: 64,
  unavailable: 69,
  config: 78,
} as const;

/** Prints why a command ends without having done what was asked. @returns the exit code */
export function fail(err: Output, why: string, code: number): number {
  err.write(`${why}\n`);
  return code;
}
