export type Dependency = 'database' | 'registry' | 'mail' | 'provider' | 'bots';

/** Thrown when a dependency is away or frozen; callers get 503 with Retry-After (docs/architecture.md, section 5). */
export class Unavailable extends Error {
  readonly dependency: Dependency;

  constructor(dependency: Dependency, cause?: unknown) {
    super(`${dependency} is not available`, { cause });
    this.name = 'Unavailable';
    this.dependency = dependency;
  }
}
