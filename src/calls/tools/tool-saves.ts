import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { ToolCalls, InsertedToolCall } from '../../stores/voice-calls/contract.ts';

/** A tool call that is over. */
export interface EndedTool {
  readonly record: ToolCallRecord;
  readonly expectedVersion: number;
  /** It cost something, which the meter was told. */
  readonly isCharged: boolean;
}

interface ToolSavesDeps {
  readonly store: Pick<ToolCalls, 'insert' | 'save'>;
  /** Saves the usage that the meter was told for the call. @throws Unavailable */
  readonly count: () => Promise<void>;
  readonly after: (ms: number, act: () => void) => () => void;
}

/**
 * Saves the tool calls of one held call, and how they ended. The cost is counted first: if this node dies in between, the tool call still seems to
 * run, and the node that takes the call charges it under the same id. What the database does not take is kept and retried, because the model has its
 * answer already and a new owner must not give another. Once the call is over nobody retries or needs to: a late record is read as timed out.
 */
export class ToolSaves {
  readonly #deps: ToolSavesDeps;
  #lastInsert: Promise<unknown> = Promise.resolve();
  #unsaved: readonly EndedTool[] = [];

  constructor(deps: ToolSavesDeps) {
    this.#deps = deps;
  }

  /**
   * Inserts the tool calls of one response after those of the one before, so that the session's limit is exact.
   * @param most tool calls that the session may have had, these included
   * @param withinMs the caller waits no longer than this, whatever the database does afterwards
   * @throws Unavailable
   */
  async insert(
    records: readonly ToolCallRecord[],
    most: number,
    withinMs: number,
  ): Promise<readonly InsertedToolCall[]> {
    const { store, after } = this.#deps;
    const inserting = this.#lastInsert.then(() => store.insert(records, most));
    this.#lastInsert = inserting.catch(() => undefined);
    let callOff = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = after(withinMs, () => reject(new Unavailable('database', 'a tool call was not inserted in its time')));
    });
    return Promise.race([inserting, late]).finally(callOff);
  }

  /** Resolves when no insert is under way. */
  inserted(): Promise<unknown> {
    return this.#lastInsert;
  }

  /** Does not reject when the database is away: then the record is kept for `retry`. */
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

  /** Saves again what the database did not take; undefined if there is nothing to save. */
  retry(): Promise<unknown> | undefined {
    const unsaved = this.#unsaved;
    if (unsaved.length === 0) return undefined;
    this.#unsaved = [];
    return Promise.all(unsaved.map((ended) => this.save(ended)));
  }
}
