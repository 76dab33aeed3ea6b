import { ErrorReply } from '@redis/client';
import { Unavailable } from '../kernel/errors.ts';

/** Replies that mean that the server cannot serve now, not that the command is wrong. */
const notNow =
  /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|MISCONF|OOM|BUSY|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS|MOVED|ASK)\b/;

/** Replies, on a connection or in a script, to a user who lacks a permission or asks for a command that the server does not have. */
const notAllowed =
  /^(NOAUTH|NOPERM|WRONGPASS)\b|The user executing the script can't|unknown (redis )?command|no permissions|ACL failure/i;

/**
 * What a caller should see of a fault: trouble with the connection or the server becomes `Unavailable`, the error of a wrong command stays as it is.
 */
export function faultOf(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  if (error instanceof ErrorReply && notAllowed.test(error.message)) return notPermitted(error.message);
  return error instanceof ErrorReply && !notNow.test(error.message) ? error : new Unavailable('registry', error);
}

/** Spelled out in words, because an operator can fix it. */
function notPermitted(reply: string): Unavailable {
  return unavailable(`Redis does not let this user do what Switchboard needs (docs/operations.md lists it): ${reply}`);
}

/** Checks what the trial of all commands answered; see `lua/script.ts`. @throws Unavailable if anything was refused */
export function expectNoRefusal(answer: unknown): void {
  if (answer === '') return;
  const reply = String(answer);
  throw notAllowed.test(reply) ? notPermitted(reply) : unavailable(`Redis takes no writes: ${reply}`);
}

export function unavailable(reason: string): Unavailable {
  return new Unavailable('registry', new Error(reason));
}

/** Whether the server answered with an error that begins with this word. */
export function saysError(error: unknown, word: string): error is ErrorReply {
  return error instanceof ErrorReply && error.message.startsWith(word);
}
