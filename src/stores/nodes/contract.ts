export interface LiveNode {
  readonly node: string;
  readonly untilMs: number;
}

/** The live nodes, one row each, so that a node that holds a thousand calls renews one row. @throws Unavailable */
export interface LiveNodes {
  /** @returns the other live nodes */
  renew(node: string, untilMs: number, atMs: number): Promise<readonly LiveNode[]>;
  /** The node is stopping: others may take its calls at once. */
  leave(node: string): Promise<void>;
  /** Whether another node is alive, which can take the calls of this one when it stops. */
  hasOther(node: string, atMs: number): Promise<boolean>;
}

/** When a process issued the request id with a certain number. */
export interface RequestTime {
  /** Undefined if it is among the first that are known. */
  readonly fromMs: number | undefined;
  readonly toMs: number;
}

/** When processes issued their request ids, by the prefix of the ids. @throws Unavailable when the database is away. */
export interface RequestTimes {
  /** Notes how many request ids the process had issued by `atMs`. */
  note(prefix: string, requests: number, atMs: number): Promise<void>;
  /** Undefined for a number that is not known to have been issued. */
  of(prefix: string, request: number): Promise<RequestTime | undefined>;
}
