import postgres from 'postgres';
import type { Database, WorkOptions } from './database.ts';

/** A part of a statement: text with its parameters. It is no promise, because nothing runs it by itself. */
export type Fragment = Pick<postgres.Fragment, 'cancel'>;

type Values = readonly unknown[];

interface Parts {
  (text: TemplateStringsArray, ...values: Values): Fragment;
  /** The name of a table or column. */
  (name: string): Fragment;
  /** The names of columns, as fields are called. */
  (fields: readonly string[]): Fragment;
  /** The given fields of a row, or all: its columns and values after `insert into t`, its changes after `set`. */
  (row: object, fields?: readonly string[]): Fragment;
  unsafe(text: string): Fragment;
}

/** Makes parts of statements for every database. It has no connection. */
export const sql = postgres({
  max: 1,
  fetch_types: false,
  // Only a part that somebody awaits by mistake gets here.
  socket: () => {
    throw new Error('a part of a statement was run by itself');
  },
} as postgres.Options<Record<string, never>>) as unknown as Parts;

/** Runs statements that need no common transaction, each written as a template. They throw what `Database.run` throws. */
export interface Statements {
  /** The rows that a statement returns. */
  readonly query: <Row extends object>(text: TemplateStringsArray, ...values: Values) => Promise<Row[]>;
  /** The first of these rows; undefined if there are none. */
  readonly first: <Row extends object>(text: TemplateStringsArray, ...values: Values) => Promise<Row | undefined>;
  /** The first column of all rows. */
  readonly column: <T>(text: TemplateStringsArray, ...values: Values) => Promise<T[]>;
  /** The first column of the first row; undefined if there are no rows. */
  readonly value: <T>(text: TemplateStringsArray, ...values: Values) => Promise<T>;
  /** Runs a statement for its effect alone. */
  readonly write: (text: TemplateStringsArray, ...values: Values) => Promise<void>;
  /** Whether a statement has written, or returned, a row. */
  readonly some: (text: TemplateStringsArray, ...values: Values) => Promise<boolean>;
  /** How many rows a statement has written, or returned. */
  readonly execute: (text: TemplateStringsArray, ...values: Values) => Promise<number>;
}

export function statementsOf(database: Pick<Database, 'run'>, options?: WorkOptions): Statements {
  const run = (text: TemplateStringsArray, values: Values) =>
    database.run((driver) => driver<object[]>(text, ...values), options);
  return {
    query: async <Row>(text: TemplateStringsArray, ...values: Values) => [...(await run(text, values))] as Row[],
    first: async <Row>(text: TemplateStringsArray, ...values: Values) =>
      (await run(text, values))[0] as Row | undefined,
    column: async <T>(text: TemplateStringsArray, ...values: Values) => (await run(text, values)).map(firstOf) as T[],
    value: async <T>(text: TemplateStringsArray, ...values: Values) => firstOf((await run(text, values))[0] ?? {}) as T,
    write: async (text, ...values) => void (await run(text, values)),
    some: async (text, ...values) => (await run(text, values)).count > 0,
    execute: async (text, ...values) => (await run(text, values)).count,
  };
}

function firstOf(row: object): unknown {
  return Object.values(row)[0];
}

const INT8 = 20;

/**
 * int8 as a number: amounts are micro-dollars and counters, all far below 2^53.
 *
 * @throws RangeError (through the query) for a value that a number cannot hold exactly: a wrong sum is worse than a fault.
 */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 value ${text} is beyond what a number holds exactly`);
  return value;
}

/** Characters that need an escape within quotes. */
const special = /["\\]/;

/** An item of an array in PostgreSQL's text form: quoted with escapes, or plain. */
const item = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs;

type ArrayType = postgres.PostgresType<readonly (string | number | null)[]>;

function arrayType(oid: number, parseItem: (text: string) => string | number): ArrayType {
  return {
    to: oid,
    from: [oid],
    parse: (array: string) =>
      Array.from(array.matchAll(item), ([, quoted, plain = '']) => {
        if (quoted !== undefined) return parseItem(quoted.replaceAll(/\\(.)/gs, '$1'));
        return plain === 'NULL' ? null : parseItem(plain);
      }),
    serialize(list) {
      return `{${list.map(serializeItem).join(',')}}`;
    },
  };
}

function serializeItem(value: string | number | null): string {
  if (value === null) return 'NULL';
  if (typeof value !== 'string') return String(value);
  return `"${special.test(value) ? value.replaceAll(/["\\]/g, String.raw`\$&`) : value}"`;
}

/**
 * The driver's `types` option: int8 as a number, and flat arrays of text, int4 and int8, with nulls; no other arrays can be sent or read. The arrays
 * are defined here because the driver would otherwise ask each new connection for them (`fetch_types`, see
 * docs/decisions/0012-types-and-guard-of-the-driver.md).
 */
const types = {
  int8: { to: INT8, from: [INT8], serialize: String, parse: parseInt8 },
  int4Array: arrayType(1007, Number),
  textArray: arrayType(1009, (text) => text),
  int8Array: arrayType(1016, parseInt8),
};

/** The options that all connections share. A column `session_id` is the field `sessionId` of a row, in both directions. */
export const driverOptions = {
  types,
  fetch_types: false,
  transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
  onnotice: () => {},
} satisfies postgres.Options<typeof types>;
