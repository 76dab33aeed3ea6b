import postgres from 'postgres';

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
