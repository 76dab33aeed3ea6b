import { Unavailable } from '../kernel/errors.ts';

/** How many items one statement serves, unless they are large. */
const MAX_ITEMS = 500;

interface GroupedItem<In, Out> {
  readonly item: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: items given in one turn of the event loop are processed together, and so are those that arrive while work is under way. A single item
 * waits until the end of its turn; under load one round trip and one commit serve many items, and each is answered only after its commit.
 *
 * @param work takes at least one item and returns as many results in the same order, or none if items have no results. `Unavailable` refuses waiting items too: they have waited for
 *   this answer, and must not wait for another. Any other error is one item's own (such as a text that PostgreSQL does not accept): the group is
 *   halved until that item stands alone.
 * @param maxItems per call of `work`
 */
export function grouped<In, Out>(
  work: (items: readonly In[]) => Promise<readonly Out[] | void>,
  maxItems = MAX_ITEMS,
): (item: In) => Promise<Out> {
  const waiting: GroupedItem<In, Out>[] = [];
  /** Halves of groups that contain a fault; they are served before waiting items. */
  const retries: (readonly GroupedItem<In, Out>[])[] = [];
  let isRunning = false;

  async function serve(group: readonly GroupedItem<In, Out>[]): Promise<void> {
    try {
      const results = await work(group.map(({ item }) => item));
      group.forEach((one, index) => one.resolve(results?.[index] as Out));
    } catch (error) {
      if (error instanceof Unavailable) refuse([...group, ...retries.splice(0).flat(), ...waiting.splice(0)], error);
      else if (group.length === 1) refuse(group, error);
      else retries.unshift(group.slice(0, group.length / 2), group.slice(group.length / 2));
    }
  }

  async function run(): Promise<void> {
    while (retries.length + waiting.length > 0) await serve(retries.shift() ?? waiting.splice(0, maxItems));
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void run());
    });
}

/** Finds rows that are asked for one by one, together; see `grouped`. */
export function groupedById<Row>(
  find: (ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
  maxItems = MAX_ITEMS,
): (id: string) => Promise<Row | undefined> {
  return grouped(async (ids: readonly string[]) => {
    const found = new Map((await find(ids)).map((row) => [idOf(row), row]));
    return ids.map((id) => found.get(id));
  }, maxItems);
}

function refuse(group: readonly { readonly reject: (error: unknown) => void }[], error: unknown): void {
  for (const one of group) one.reject(error);
}
