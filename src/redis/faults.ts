import { ErrorReply } from '@redis/client';
import { Unavailable } from '../kernel/errors.ts';

/** Replies by which a server says that it cannot serve now, not that the command is wrong. */
const notNow =
  /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|MISCONF|OOM|BUSY|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS|MOVED|ASK)\b/;

/** What a server says, on a connection or in a script, to a user who may not do something, or who asks for what it does not have. */
const notAllowed =
  /^(NOAUTH|NOPERM|WRONGPASS)\b|The user executing the script can't|unknown (redis )?command|no permissions|ACL failure/i;

/** What a caller should see of a fault: trouble with the connection or the server is `Unavailable`, a wrong command is itself. */
export function faultOf(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  if (error instanceof ErrorReply && notAllowed.test(error.message)) return notPermitted(error.message);
  return error instanceof ErrorReply && !notNow.test(error.message) ? error : new Unavailable('registry', error);
}

/** An operator can mend it, so it is said in words. */
function notPermitted(reply: string): Unavailable {
  return unavailable(`Redis does not let this user do what Switchboard needs (docs/operations.md lists it): ${reply}`);
}

/** What the trial of all commands answered; see `lua/probe.ts`. @throws Unavailable unless nothing was refused */
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
