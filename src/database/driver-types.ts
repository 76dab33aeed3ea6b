import type postgres from 'postgres';
import type { DriverTypes, Sql } from './database.ts';

type Type = postgres.PostgresType<unknown>;

const INT8 = 20;

/**
 * int8 as a number: amounts are micro-dollars and counters, all far below 2^53.
 *
 * @throws RangeError (through the query) for a value that a number cannot hold exactly: a wrong sum is worse than a fault.
 */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`int8 value ${text} is beyond what a number holds exactly`);
  }
  return value;
}

/** An item of an array in PostgreSQL's text form: quoted with escapes, or plain. */
const item = /"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs;

function parseArray(text: string, parseItem: (text: string) => unknown): unknown[] {
  if (text.startsWith('{{') || text.startsWith('[')) {
    throw new RangeError('arrays of arrays are not supported');
  }
  return Array.from(text.matchAll(item), ([, quoted, plain = '']) => {
    if (quoted !== undefined) {
      return parseItem(quoted.replaceAll(/\\(.)/gs, '$1'));
    }
    return plain === 'NULL' ? null : parseItem(plain);
  });
}

function serializeArray(list: unknown, serializeItem: (value: unknown) => string): unknown {
  if (!Array.isArray(list)) {
    return list;
  }
  const items = list.map((value: unknown) =>
    value === null ? 'NULL' : `"${serializeItem(value).replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  );
  return `{${items.join(',')}}`;
}

const text = (value: string): string => value;
const bool = (value: string): boolean => value === 't';
const date = (value: string): Date => new Date(value);

/** [name, type of an item, type of the array, parser of an item] */
const arrays: readonly (readonly [string, number, number, (text: string) => unknown])[] = [
  ['boolArray', 16, 1000, bool],
  ['int8Array', INT8, 1016, parseInt8],
  ['int2Array', 21, 1005, Number],
  ['int4Array', 23, 1007, Number],
  ['textArray', 25, 1009, text],
  ['float4Array', 700, 1021, Number],
  ['float8Array', 701, 1022, Number],
  ['varcharArray', 1043, 1015, text],
  ['dateArray', 1082, 1182, date],
  ['timestampArray', 1114, 1115, date],
  ['timestamptzArray', 1184, 1185, date],
  ['numericArray', 1700, 1231, text],
  ['uuidArray', 2950, 2951, text],
  ['jsonbArray', 3802, 3807, JSON.parse],
];

function serializeItem(value: unknown): string {
  if (value instanceof Date) {
    return value.toISOString();
  }
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | bigint | boolean}`;
}

function arrayType(oid: number, parseItem: (text: string) => unknown): Type {
  return {
    to: oid,
    from: [oid],
    parse: (value: string) => parseArray(value, parseItem),
    serialize: (list) => serializeArray(list, serializeItem),
  };
}

/**
 * The driver's `types` option. The arrays are here because the driver would ask each new connection for them (`fetch_types`): a
 * round trip more, and a back end that dies during that query ends the process with a rejection that nobody can catch.
 */
export const driverTypes: Record<string, Type> = {
  int8: { to: INT8, from: [INT8], serialize: String, parse: parseInt8 },
  ...Object.fromEntries(arrays.map(([name, , oid, parseItem]) => [name, arrayType(oid, parseItem)])),
};

const arrayOfItem = Object.fromEntries(arrays.map(([, item, array]) => [item, array]));

/** Tells `sql.array` the types that `fetch_types` would have told it. */
export function teachArrays(sql: postgres.Sql): Sql {
  const { shared } = sql.options as unknown as { shared: { typeArrayMap: Record<number, number> } };
  Object.assign(shared.typeArrayMap, arrayOfItem);
  return sql as unknown as postgres.Sql<DriverTypes>;
}
