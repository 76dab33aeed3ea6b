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
