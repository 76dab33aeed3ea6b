import type postgres from 'postgres';

const INT8_OID = 20;

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

export const int8: postgres.PostgresType<number | bigint> = {
  to: INT8_OID,
  from: [INT8_OID],
  serialize: String,
  parse: parseInt8,
};
