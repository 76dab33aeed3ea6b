/** Where a command writes; tests read it. */
export interface Output {
  write(text: string): unknown;
}

/** What a command knows of the world around it. */
export interface Terminal {
  readonly out: Output;
  /** What went wrong, and notes that are no result. */
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
