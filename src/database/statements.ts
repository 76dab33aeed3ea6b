import postgres from 'postgres';
import type { Database, WorkOptions } from './database.ts';

/** A part of a statement: text with its parameters. It is no promise, because nothing runs it by itself. */
export type Fragment = Pick<postgres.Fragment, 'cancel'>;

type Values = readonly unknown[];

interface Parts {
  (text: TemplateStringsArray, ...values: Values): Fragment;
  /** The name of a table or column. */
  (name: string): Fragment;
  /** The fields of a row: its columns and values after `insert into t`, its changes after `set`. */
  (row: object): Fragment;
  unsafe(text: string): Fragment;
}

/** Makes parts of statements for every database. It has no connection. */
export const sql = postgres({ max: 1, fetch_types: false }) as unknown as Parts;

/** Runs statements that need no common transaction, each written as a template. They throw what `Database.run` throws. */
export interface Statements {
  /** The rows that a statement returns. */
  readonly query: <Row extends object>(text: TemplateStringsArray, ...values: Values) => Promise<Row[]>;
  /** The first of these rows; undefined if there are none. */
  readonly first: <Row extends object>(text: TemplateStringsArray, ...values: Values) => Promise<Row | undefined>;
  /** How many rows a statement has written, or returned. */
  readonly execute: (text: TemplateStringsArray, ...values: Values) => Promise<number>;
}

export function statementsOf(database: Pick<Database, 'run'>, options?: WorkOptions): Statements {
  const run = <Row extends object>(text: TemplateStringsArray, values: Values) =>
    database.run((driver) => driver<Row[]>(text, ...values), options);
  return {
    query: async <Row extends object>(text: TemplateStringsArray, ...values: Values) => [
      ...(await run<Row>(text, values)),
    ],
    first: async <Row extends object>(text: TemplateStringsArray, ...values: Values) =>
      (await run<Row>(text, values))[0],
    execute: async (text, ...values) => (await run(text, values)).count,
  };
}
