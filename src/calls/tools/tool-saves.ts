import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { ToolCalls } from '../../stores/tool-calls/contract.ts';

/** A call of a tool that is over. */
export interface EndedTool {
  readonly record: ToolCallRecord;
  readonly expectedVersion: number;
  /** It costs something, which the meter was told. */
  readonly isCharged: boolean;
}

interface ToolSavesDeps {
  readonly store: Pick<ToolCalls, 'save'>;
  /** Counts what the meter was told of the call. @throws Unavailable */
  readonly count: () => Promise<void>;
}

/**
 * Saves how calls of tools ended. What one cost is counted first: a node that dies in between leaves one that seems to run, whose taker
 * charges it under the same name. What the database does not take is kept: the model has its answer by then, and a taker must not give
 * another. Once the call is over nobody tries again, and nobody needs it: one that is late is read as timed out.
 */
export class ToolSaves {
  readonly #deps: ToolSavesDeps;
  #unsaved: readonly EndedTool[] = [];

  constructor(deps: ToolSavesDeps) {
    this.#deps = deps;
  }

  /** Never rejects because the database is away. */
  async save(ended: EndedTool): Promise<void> {
    const { record, expectedVersion, isCharged } = ended;
    try {
      if (isCharged) await this.#deps.count();
      await this.#deps.store.save(record, expectedVersion);
    } catch (fault) {
      if (!(fault instanceof Unavailable)) throw fault;
      this.#unsaved = [...this.#unsaved, ended];
    }
  }

  /** Tries again what was not taken; undefined where all was. */
  retry(): Promise<unknown> | undefined {
    const unsaved = this.#unsaved;
    if (unsaved.length === 0) return undefined;
    this.#unsaved = [];
    return Promise.all(unsaved.map((ended) => this.save(ended)));
  }
}
