/** A process that serves, or did. */
export interface NodeRun {
  /** Of its request ids: `req_`, the prefix, a counter. */
  readonly prefix: string;
  readonly node: string;
  readonly host: string;
  readonly version: string;
  readonly configHash: string;
  /** Of its rows in the activity. */
  readonly shard: number;
  readonly startedAtMs: number;
  /** Null while it runs, and for ever where it was killed. */
  readonly stoppedAtMs: number | null;
}

/** The time in which a process made the request of a number. */
export interface RequestTime {
  readonly run: NodeRun;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The processes of the installation, and when they made which request ids. @throws Unavailable when the database is away. */
export interface NodeRuns {
  started(run: NodeRun): Promise<void>;
  stopped(prefix: string, atMs: number): Promise<void>;
  /** By `atMs` the process had made so many request ids. */
  noteRequests(prefix: string, requests: number, atMs: number): Promise<void>;
  /** Undefined for a number that is not known to have been given. */
  timeOf(prefix: string, request: number): Promise<RequestTime | undefined>;
  /** Those that started within a span, the newest first; at most `limit`. */
  startedWithin(fromMs: number, toMs: number, limit: number): Promise<NodeRun[]>;
}
