/**
 * True for one fault of postgres.js 3.4.9: when a back end dies inside a transaction, the driver queues its rollback on the closed
 * connection and `nextWrite` throws from setImmediate, where no caller can catch it. The caller has its rejection already
 * (CONNECTION_CLOSED) and the pool replaces the spoilt connection, so nothing is lost by going on
 * (docs/decisions/0012-types-and-guard-of-the-driver.md).
 */
function isDriverFault(error: unknown): boolean {
  if (!(error instanceof TypeError) || error.message !== "Cannot read properties of null (reading 'write')") {
    return false;
  }
  const origin = error.stack?.split('\n').find((line) => line.startsWith('    at '));
  return origin !== undefined && /^ {4}at (?:Immediate\.)?nextWrite(?:\$\d+)?(?: \[as _onImmediate\])? \(/.test(origin);
}

export interface DriverGuardOptions {
  /** Called with each fault that was kept from ending the process. */
  readonly onFault?: (error: unknown) => void;
  /** Called with every other uncaught exception. Without it the exception is thrown again, which ends the process. */
  readonly onOther?: (error: unknown) => void;
}

/**
 * Keeps the process alive after an `isDriverFault`, and after nothing else. Install it once, in `main`.
 *
 * @returns a function that removes the guard.
 */
export function installDriverGuard({ onFault, onOther }: DriverGuardOptions = {}): () => void {
  const guard = (error: unknown): void => {
    if (isDriverFault(error)) {
      onFault?.(error);
    } else if (onOther) {
      onOther(error);
    } else {
      throw error;
    }
  };
  process.on('uncaughtException', guard);
  return () => void process.off('uncaughtException', guard);
}
