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

/** Thrown for a handler that did not answer in its time, whatever it waits for; callers get 503 with Retry-After. */
export class ReplyDeadlineExceeded extends Error {
  override readonly name = 'ReplyDeadlineExceeded';

  constructor(deadlineMs: number) {
    super(`the handler did not answer within ${deadlineMs} ms`);
  }
}

/**
 * What a `catch` needs that has another way: answers with `otherwise` where the dependency is away, and goes on throwing every other
 * fault.
 * @param dependency any, when none is named
 */
export function ifAway<T>(otherwise: () => T, dependency?: Dependency): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Unavailable && (dependency ?? fault.dependency) === fault.dependency) return otherwise();
    throw fault;
  };
}
