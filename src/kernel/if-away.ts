import { Unavailable, type Dependency } from './errors.ts';

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
