import { parseArgs } from 'node:util';

/**
 * The options of a command by their defaults, which tell whether one is a number, a text or a switch; undefined once `--help` is answered.
 * @throws Error for an option that the command does not have, or that is no number where one is wanted
 */
export function readOptions(args, usage, defaults) {
  const options = { help: { type: 'boolean', default: false } };
  for (const [name, value] of Object.entries(defaults))
    options[name] = typeof value === 'boolean' ? { type: 'boolean' } : { type: 'string' };
  const { values } = parseArgs({ args, options });
  if (values.help) {
    console.log(usage);
    return undefined;
  }
  const read = { ...defaults };
  for (const [name, text] of Object.entries(values))
    if (name !== 'help') read[name] = typeof defaults[name] === 'number' ? toNumber(name, text) : text;
  return read;
}

function toNumber(name, text) {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number)) throw new Error(`--${name} must be a number, not ${text}`);
  return number;
}
