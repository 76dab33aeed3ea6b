import { randomId } from '../kernel/ids.ts';

/** How many shards there are; 0 is the shard of no node. */
const SHARDS = 64;
/** Length of the part of a request id between `req_` and the counter. */
const PREFIX_LENGTH = 8;

/** Distinguishes one process from all others of an installation, and from itself after a restart. */
export interface NodeIdentity {
  readonly id: string;
  /** How the request ids of this process begin, after `req_`. */
  readonly requestPrefix: string;
  /** From 1 to 63: nodes add to rows of their own shard, so that they seldom wait for each other, and reads sum up the shards. */
  readonly shard: number;
}

export function createNodeIdentity(id = randomId()): NodeIdentity {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % (SHARDS - 1);
  return { id, requestPrefix: id.slice(0, PREFIX_LENGTH), shard: sum + 1 };
}

/** The identity under which this process writes rows and answers requests; tests with several nodes in one process create others. */
export const thisNode = createNodeIdentity();
