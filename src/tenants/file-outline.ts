import { z } from 'zod';

const word = z.string().optional().catch(undefined);
const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);
const budgets = listOf(z.object({ id: word, of: word }).catch({}));
const tools = listOf(z.looseObject({ kind: word }).catch({ kind: undefined }));

/** What entries of a tenants file are compared by, read leniently, so that clashes are reported together with all other problems. */
export const outline = z
  .object({
    budgets,
    tenants: listOf(
      z
        .object({
          id: word,
          budgets,
          agents: listOf(z.object({ id: word, tools }).catch({ tools: [] })),
          webhooks: listOf(z.object({ id: word }).catch({})),
          widgetKeys: listOf(z.object({ id: word, key: word, agents: listOf(word) }).catch({ agents: [] })),
        })
        .catch({ budgets: [], agents: [], webhooks: [], widgetKeys: [] }),
    ),
  })
  .catch({ budgets: [], tenants: [] });

export type Outline = z.output<typeof outline>;

/** One problem, with its path in the file, for example `tenants[0].widgetKeys[1].origin`. */
export interface FileProblem {
  readonly path: string;
  readonly message: string;
}
