import { parseArgs } from 'node:util';

/** An option that cannot be followed; printed without a stack trace. */
export class WrongOption extends Error {
  name = 'WrongOption';
}

/**
 * Reads a command's options; the defaults tell whether one is a number, a text or a switch. Undefined when `--help` was answered.
 * @throws WrongOption for an unknown option, or when a number is wanted and something else was given
 */
export function readOptions(args, usage, defaults) {
  const values = parse(args, usage, defaults);
  if (values.help) {
    console.log(usage);
    return undefined;
  }
  const read = { ...defaults };
  for (const [name, text] of Object.entries(values))
    if (name !== 'help') read[name] = typeof defaults[name] === 'number' ? toNumber(name, text) : text;
  if (read.rounds < 1) throw new WrongOption('--rounds must be at least 1');
  return read;
}

function parse(args, usage, defaults) {
  const options = { help: { type: 'boolean', default: false } };
  for (const [name, value] of Object.entries(defaults))
    options[name] = { type: typeof value === 'boolean' ? 'boolean' : 'string' };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new WrongOption(`${error.message}\n${usage}`);
  }
}

function toNumber(name, text) {
  const number = Number(text);
  if (text.trim() === '' || !(number >= 0)) throw new WrongOption(`--${name} must be a number, not ${text}`);
  return number;
}

/** The counts in a list; each gets a table of its own. @throws WrongOption */
export function toCounts(name, text) {
  const counts = text.split(',').map(Number);
  if (!counts.every((count) => Number.isInteger(count) && count > 0))
    throw new WrongOption(`--${name} must be comma-separated numbers, not ${text}`);
  return counts;
}

/**
 * The candidates that `--only` names, in its order, each with its name; those with `ofOther` need an `--other`.
 * @throws WrongOption for an unknown name, and when none is left
 */
export function choose(candidates, { only, other }) {
  const chosen = only.split(',').map((name) => {
    if (!Object.hasOwn(candidates, name))
      throw new WrongOption(`--only ${name} is none of: ${Object.keys(candidates).join(', ')}`);
    return { name, ...candidates[name] };
  });
  const present = chosen.filter(({ ofOther = false }) => !ofOther || other !== '');
  if (present.length === 0) throw new WrongOption(`--only ${only} needs --other <path>`);
  return present;
}
