/**
 * True for one fault of postgres.js 3.4.9: when a back end dies inside a transaction, the driver queues its rollback on the closed
 * connection and `nextWrite` throws from setImmediate, where no caller can catch it. The caller has its rejection already
 * (CONNECTION_CLOSED) and the pool replaces the spoilt connection, so nothing is lost by going on
 * (docs/decisions/0012-types-and-guard-of-the-driver.md).
 */
function isDriverFault(error: unknown): boolean {
  if (!(error instanceof TypeError) || error.message !== "Cannot read properties of null (reading 'write')") return false;
  const origin = error.stack?.split('\n').find((line) => line.startsWith('    at '));
  return origin !== undefined && /^ {4}at (?:Immediate\.)?nextWrite(?:\$\d+)?(?: \[as _onImmediate\])? \(/.test(origin);
}

/**
 * Keeps the process alive after an `isDriverFault`, and after nothing else. Install it once, in `main`.
 * @param onFault called with each fault that was kept from ending the process
 */
export function installDriverGuard({ onFault }: { readonly onFault: (error: unknown) => void }): void {
  process.on('uncaughtException', (error) => {
    if (!isDriverFault(error)) throw error;
    onFault(error);
  });
}
