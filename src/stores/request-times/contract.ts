/** The time in which a process gave the request id of a number. */
export interface RequestTime {
  /** Undefined where it was among the first that are known. */
  readonly fromMs: number | undefined;
  readonly toMs: number;
}

/** When processes gave which request ids, by what these begin with. @throws Unavailable when the database is away. */
export interface RequestTimes {
  /** By `atMs` the process had given so many request ids. */
  note(prefix: string, requests: number, atMs: number): Promise<void>;
  /** Undefined for a number that is not known to have been given. */
  of(prefix: string, request: number): Promise<RequestTime | undefined>;
}
