export type Dependency = 'database' | 'registry' | 'mail' | 'provider' | 'bots' | 'collector';

/** Thrown when a dependency is away or frozen; callers get 503 with Retry-After (docs/architecture.md, section 5). */
export class Unavailable extends Error {
  readonly dependency: Dependency;

  constructor(dependency: Dependency, cause?: unknown) {
    super(`${dependency} is not available`, { cause });
    this.name = 'Unavailable';
    this.dependency = dependency;
  }
}

/** Thrown when a handler did not answer in time, whatever it is waiting for; callers get 503 with Retry-After. */
export class ReplyDeadlineExceeded extends Error {
  override readonly name = 'ReplyDeadlineExceeded';

  constructor(deadlineMs: number) {
    super(`the handler did not answer within ${deadlineMs} ms`);
  }
}

/**
 * For a `catch` that has an alternative: returns `otherwise()` if the dependency is away, and rethrows every other fault.
 * @param dependency any, if not given
 */
export function ifAway<T>(otherwise: () => T, dependency?: Dependency): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Unavailable && (dependency ?? fault.dependency) === fault.dependency) return otherwise();
    throw fault;
  };
}
