import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from 'postgres';

const POLL_MS = 200;
const PATIENCE_MS = 2000;
const LOOK_BACK_MS = 90_000;

/** A session that has ended in PostgreSQL, as it was when the observer first saw the end. */
export interface SeenEnd {
  readonly endedAtMs: number;
  readonly reason: string;
  /** When the last poll began that did not see the end, which was therefore written later. */
  readonly notBefore: number;
}

/** Watches PostgreSQL directly: when ends are written, and that they do not change afterwards. */
export class Observer {
  readonly ends = new Map<string, SeenEnd>();
  /** Ends that changed after the observer had seen them. */
  readonly violations: string[] = [];
  readonly #sql: Sql;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let last = Date.now(); !this.#isStopped; await delay(POLL_MS)) {
      const startedAt = Date.now();
      if (await this.#poll(last)) last = startedAt;
    }
  }

  /** @returns false when PostgreSQL does not answer */
  async #poll(notBefore: number): Promise<boolean> {
    const sql = this.#sql;
    const query = sql<{ id: string; ended: string; reason: string }[]>`
      select id, ended_at_ms as ended, end_reason as reason from voice_session
      where ended_at_ms > ${Date.now() - LOOK_BACK_MS}`.then(
      (rows) => rows,
      () => undefined,
    );
    const rows = await Promise.race([query, delay(PATIENCE_MS, undefined, { ref: false })]);
    for (const { id, ended, reason } of rows ?? []) {
      const seen = this.ends.get(id);
      const endedAtMs = Number(ended);
      if (seen === undefined) this.ends.set(id, { endedAtMs, reason, notBefore });
      else if (seen.endedAtMs !== endedAtMs || seen.reason !== reason)
        this.violations.push(
          `${id} ended with ${seen.reason} at ${seen.endedAtMs} and then with ${reason} at ${endedAtMs}`,
        );
    }
    return rows !== undefined;
  }
}
