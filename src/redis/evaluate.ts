import { saysError } from './faults.ts';
import { script } from './lua/script.ts';
import type { Route } from './route.ts';

/** The begin of a script call: the number of keys, the keys and the arguments follow. */
export function scriptCall(): string[] {
  return ['EVALSHA', script.sha];
}

/**
 * Runs a script call on the server of a tag. A server that does not know the script (new, or told to forget) gets its text and keeps it.
 * @throws Unavailable, or ErrorReply when the script fails
 */
export async function evaluate(
  route: Route,
  tag: number,
  command: readonly string[],
  deadlineAt: number,
): Promise<readonly unknown[]> {
  try {
    return (await route.send(tag, command, deadlineAt)) as readonly unknown[];
  } catch (error) {
    if (!saysError(error, 'NOSCRIPT')) throw error;
    return (await route.send(tag, ['EVAL', script.text, ...command.slice(2)], deadlineAt)) as readonly unknown[];
  }
}
