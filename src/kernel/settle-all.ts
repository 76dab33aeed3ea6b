/** Does some work for each item, `atOnce` items at a time. A failure holds up no other item; the first failure is thrown once all are done. */
export async function settleAll<T>(
  items: readonly T[],
  work: (item: T) => unknown,
  atOnce = items.length,
): Promise<void> {
  const failures: unknown[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const settled = await Promise.allSettled(items.slice(from, from + atOnce).map(async (item) => work(item)));
    for (const one of settled) if (one.status === 'rejected') failures.push(one.reason);
  }
  if (failures.length > 0) throw failures[0];
}
