import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { ToolCalls } from '../../stores/tool-calls/contract.ts';

interface Unsaved {
  readonly record: ToolCallRecord;
  readonly expectedVersion: number;
}

/** Saves how calls of tools ended. What the database does not take is kept: the model has its answer by then, and a taker must not give another. */
export class ToolSaves {
  readonly #store: Pick<ToolCalls, 'save'>;
  #unsaved: readonly Unsaved[] = [];

  constructor(store: Pick<ToolCalls, 'save'>) {
    this.#store = store;
  }

  /** Never rejects because the database is away. */
  async save(record: ToolCallRecord, expectedVersion: number): Promise<void> {
    try {
      await this.#store.save(record, expectedVersion);
    } catch (fault) {
      if (!(fault instanceof Unavailable)) throw fault;
      this.#unsaved = [...this.#unsaved, { record, expectedVersion }];
    }
  }

  /** Tries again what was not taken; undefined where all was. */
  retry(): Promise<unknown> | undefined {
    const unsaved = this.#unsaved;
    if (unsaved.length === 0) return undefined;
    this.#unsaved = [];
    return Promise.all(unsaved.map(({ record, expectedVersion }) => this.save(record, expectedVersion)));
  }
}
