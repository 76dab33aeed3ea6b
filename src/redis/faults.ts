import { ErrorReply } from '@redis/client';
import { Unavailable } from '../kernel/errors.ts';

/** Replies by which a server says that it cannot serve now, not that the command is wrong. */
const notNow =
  /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|MISCONF|OOM|BUSY|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS|MOVED|ASK)\b/;

/** What a caller should see of a fault: trouble with the connection or the server is `Unavailable`, a wrong command is itself. */
export function faultOf(error: unknown): unknown {
  if (error instanceof Unavailable) return error;
  return error instanceof ErrorReply && !notNow.test(error.message) ? error : new Unavailable('registry', error);
}

export function unavailable(reason: string): Unavailable {
  return new Unavailable('registry', new Error(reason));
}

/** Whether the server answered with an error that begins with this word. */
export function saysError(error: unknown, word: string): error is ErrorReply {
  return error instanceof ErrorReply && error.message.startsWith(word);
}
