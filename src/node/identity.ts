import { randomId } from '../kernel/ids.ts';

/** Nodes of one installation: 0 is the shard of no node. */
const SHARDS = 64;
/** Of a request id, between `req_` and the counter. */
const PREFIX_LENGTH = 8;

/** What tells one process from all others of an installation, and from itself after a restart. */
export interface NodeIdentity {
  readonly id: string;
  /** What the request ids of this process begin with, after `req_`. */
  readonly requestPrefix: string;
  /** From 1 to 63: nodes add to rows of their own shard, so that they seldom wait for each other, and reads add the shards up. */
  readonly shard: number;
}

export function createNodeIdentity(id = randomId()): NodeIdentity {
  let sum = 0;
  for (const character of id) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % (SHARDS - 1);
  return { id, requestPrefix: id.slice(0, PREFIX_LENGTH), shard: sum + 1 };
}

/** The identity under which this process writes rows and answers requests; tests of several nodes in one process make others. */
export const thisNode = createNodeIdentity();
