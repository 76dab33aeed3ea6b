import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { InsertedToolCall, ToolCalls } from '../../stores/voice-calls/contract.ts';

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
