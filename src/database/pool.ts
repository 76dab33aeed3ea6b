import { deadline } from '../kernel/async.ts';
import { Unavailable } from '../kernel/errors.ts';
import { PassiveHealth } from '../kernel/passive-health.ts';
import {
  isConnectionFault,
  isConnectionLost,
  isConnectTimeout,
  isReadOnly,
  NO_ANSWER,
  takesNoWrites,
  TOO_SLOW,
  translateFault,
} from './faults.ts';
import type { Database, Sql, TransactionSql, WorkOptions } from './database.ts';

/** How long running work may go on when the process ends, in milliseconds. */
const CLOSE_GRACE_MS = 2_000;
/**
 * How long a caller waits for a server that has just let a deadline pass, until it answers something again: so the steps of one request wait for a
 * whole deadline only once. The work itself goes on, so that a slow server is noticed when it is back.
 */
const SILENT_MS = 250;

export interface PoolOptions {
  readonly kind: Database['kind'];
  /** Makes a fresh set of connections (lazily connected). */
  connect(): Sql;
  /** Connections in each set. */
  readonly size: number;
  /** Default deadline of one piece of work, in milliseconds. */
  readonly deadlineMs: number;
  /** How long work on a set that was replaced may go on, in milliseconds. */
  readonly graceMs: number;
  /** Sends queries, without a round trip of their own, that limit a transaction on the server's side as well. */
  armTransaction?(sql: TransactionSql, deadlineMs: number): void;
}

/** One set of connections. A set that a frozen server holds up is replaced as a whole, with the queue that built up behind it. */
class Generation {
  readonly sql: Sql;
  /** Pieces of work that have not settled. */
  active = 0;
  /** How many of them are overdue: their callers got `Unavailable`. */
  overdue = 0;
  /** Pieces of work that the server has answered. */
  answers = 0;
  /** Called when no work is left, after the set has been replaced. */
  onIdle: (() => void) | undefined;
  readonly #afterSilence: boolean;

  /** @param afterSilence whether it replaces a set that got no answer */
  constructor(sql: Sql, afterSilence = false) {
    this.sql = sql;
    this.#afterSilence = afterSilence;
  }

  /** Whether the server was silent the last time and has not answered since. */
  get isSilent(): boolean {
    return this.#afterSilence && this.answers === 0;
  }

  /** Resolves when no work is left, after `graceMs` at the latest. */
  async idle(graceMs: number): Promise<void> {
    if (this.active > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** Work as the pool tracks it: `begun` is set as soon as a transaction runs on a connection. */
interface Attempt {
  readonly deadlineMs: number;
  begun: boolean;
}

/**
 * Deadlines and recovery on top of postgres.js, which has neither a query time-out nor a way to drop one connection
 * (docs/decisions/0011-our-own-deadlines-over-postgres.md).
 *
 * A set of connections is replaced in four cases: it does not answer (work is overdue and nothing else was answered since it began, or more than half
 * of the set is overdue); connecting times out; the server takes no writes any more (new connections find the new primary behind the same name); or a
 * connection dies during its work: postgres.js 3.4.9 may then keep unsent bytes, or the server's last words, that spoil the next use of that
 * connection object.
 */
export class Pool implements Database {
  readonly kind: Database['kind'];
  readonly health = new PassiveHealth();
  readonly #options: PoolOptions;
  readonly #retiring = new Set<Promise<void>>();
  #current: Generation;
  #hasAnswered = false;
  #closed = false;

  constructor(options: PoolOptions) {
    this.kind = options.kind;
    this.#options = options;
    this.#current = new Generation(options.connect());
  }

  run<T>(work: (sql: Sql) => Promise<T>, options: WorkOptions = {}): Promise<T> {
    return this.#attempt(async (sql) => work(sql), options);
  }

  transaction<T>(work: (sql: TransactionSql) => Promise<T>, options: WorkOptions = {}): Promise<T> {
    return this.#attempt((sql, attempt) => {
      const outcome = sql.begin((transaction) => {
        attempt.begun = true;
        this.#options.armTransaction?.(transaction, attempt.deadlineMs);
        return work(transaction);
      });
      return outcome as Promise<T>;
    }, options);
  }

  async ping(): Promise<void> {
    await this.run((sql) => sql`select 1`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retire(this.#current, CLOSE_GRACE_MS);
    await Promise.all(this.#retiring);
  }

  #attempt<T>(start: (sql: Sql, attempt: Attempt) => Promise<T>, options: WorkOptions): Promise<T> {
    const generation = this.#current;
    const attempt: Attempt = { deadlineMs: options.deadlineMs ?? this.#options.deadlineMs, begun: false };
    const answersBefore = generation.answers;
    let overdue = false;
    generation.active += 1;

    return new Promise<T>((resolve, reject) => {
      let isTold = false;
      const refuse = (ms: number): void => {
        const cause = unanswered(ms, this.#hasAnswered);
        if (!isTold) this.health.refused(cause);
        isTold = true;
        reject(new Unavailable('database', cause));
      };
      // Patient work waits for an answer, however long there was none.
      const isImpatient = generation.isSilent && attempt.deadlineMs <= this.#options.deadlineMs;
      const callOffImpatience = isImpatient ? deadline(SILENT_MS, () => refuse(SILENT_MS)) : undefined;
      const callOff = deadline(attempt.deadlineMs, () => {
        overdue = true;
        generation.overdue += 1;
        const isSilent = generation.answers === answersBefore;
        if (isSilent || generation.overdue * 2 > this.#options.size) this.#replace(generation, isSilent);
        refuse(attempt.deadlineMs);
      });

      const settled = (): void => {
        callOffImpatience?.();
        callOff();
        generation.overdue -= overdue ? 1 : 0;
        generation.active -= 1;
        if (generation.active === 0) generation.onIdle?.();
      };

      start(generation.sql, attempt).then(
        (value) => {
          generation.answers += 1;
          this.#hasAnswered = true;
          settled();
          // An answer that came too late served nobody.
          if (!isTold) this.health.served();
          resolve(value);
        },
        (error: unknown) => {
          this.#learn(generation, attempt, error);
          settled();
          if (!isTold) this.#noteFault(error);
          reject(translateFault(error));
        },
      );
    });
  }

  #learn(generation: Generation, attempt: Attempt, error: unknown): void {
    if (!isConnectionFault(error)) {
      generation.answers += 1;
    } else if (attempt.begun || isConnectionLost(error) || isConnectTimeout(error) || isReadOnly(error)) {
      this.#replace(generation, isConnectTimeout(error));
    }
  }

  #noteFault(error: unknown): void {
    if (isConnectionFault(error)) this.health.refused(error, takesNoWrites(error));
    else this.health.served();
  }

  #replace(generation: Generation, afterSilence: boolean): void {
    if (generation !== this.#current || this.#closed) return;
    this.#retire(generation, this.#options.graceMs);
    this.#current = new Generation(this.#options.connect(), afterSilence);
  }

  #retire(generation: Generation, graceMs: number): void {
    const ended = generation.idle(graceMs).then(() => generation.sql.end({ timeout: 0 }));
    this.#retiring.add(ended);
    void ended.finally(() => this.#retiring.delete(ended));
  }
}

/** The error for a missed deadline. @param hasAnswered whether the server has answered other calls before */
function unanswered(ms: number, hasAnswered: boolean): Error {
  return hasAnswered
    ? Object.assign(new Error(`a call was not answered within ${ms} ms, although calls before were`), {
        code: TOO_SLOW,
      })
    : Object.assign(new Error(`no answer within ${ms} ms`), { code: NO_ANSWER });
}
