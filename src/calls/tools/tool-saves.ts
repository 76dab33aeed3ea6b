import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { ToolCalls, InsertedToolCall } from '../../stores/voice-calls/contract.ts';

// How the tool calls of one held call get into the database.

interface ToolInsertsDeps {
  readonly store: Pick<ToolCalls, 'insert'>;
  readonly after: (ms: number, act: () => void) => () => void;
}

/** Inserts the tool calls of one held call, one response after another, so that the session's limit is exact. */
export class ToolInserts {
  readonly #deps: ToolInsertsDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: ToolInsertsDeps) {
    this.#deps = deps;
  }

  /**
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
    const inserting = this.#last.then(() => store.insert(records, most));
    this.#last = inserting.catch(() => undefined);
    let callOff = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      callOff = after(withinMs, () => reject(new Unavailable('database', 'a tool call was not inserted in its time')));
    });
    return Promise.race([inserting, late]).finally(callOff);
  }

  /** Resolves when no insert is under way. */
  settled(): Promise<unknown> {
    return this.#last;
  }
}

/** A tool call that is over. */
export interface EndedTool {
  readonly record: ToolCallRecord;
  readonly expectedVersion: number;
  /** It cost something, which the meter was told. */
  readonly isCharged: boolean;
}

interface ToolSavesDeps {
  readonly store: Pick<ToolCalls, 'save'>;
  /** Saves the usage that the meter was told for the call. @throws Unavailable */
  readonly count: () => Promise<void>;
}

/**
 * Saves how tool calls ended. The cost is counted first: if this node dies in between, the tool call still seems to run, and the node that takes the
 * call charges it under the same id. What the database does not take is kept and retried, because the model has its answer already and a new owner
 * must not give another. Once the call is over nobody retries, and nobody needs to: a late record is read as timed out.
 */
export class ToolSaves {
  readonly #deps: ToolSavesDeps;
  #unsaved: readonly EndedTool[] = [];

  constructor(deps: ToolSavesDeps) {
    this.#deps = deps;
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
