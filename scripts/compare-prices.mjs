/**
 * `npm run prices -- <file or URL>`: compares config/prices.json with a copy of LiteLLM's model_prices_and_context_window.json, for
 * review. It changes nothing, because catalogues contain errors and the vendor's own page decides (docs/operations.md, Prices).
 */
import { readFile } from 'node:fs/promises';

/** Our token classes, with the catalogue's field for each, which is in dollars per token. */
const fields = {
  textIn: 'input_cost_per_token',
  textCached: 'cache_read_input_token_cost',
  textOut: 'output_cost_per_token',
  audioIn: 'input_cost_per_audio_token',
  audioCached: 'cache_read_input_audio_token_cost',
  audioOut: 'output_cost_per_audio_token',
  imageIn: 'input_cost_per_image_token',
  imageCached: 'cache_read_input_image_token_cost',
};

async function read(place) {
  if (!/^https?:/.test(place)) return JSON.parse(await readFile(place, 'utf8'));
  const response = await fetch(place);
  if (!response.ok) throw new Error(`${place} answered with status ${response.status}`);
  return response.json();
}

/** @returns {string[]} one line for each difference */
function differences(model, { per1M = {} }, entry) {
  if (entry === undefined) return [`${model}: the catalogue does not have it`];
  return Object.entries(fields).flatMap(([name, field]) => {
    const ours = per1M[name];
    const theirs = entry[field] === undefined ? undefined : Math.round(entry[field] * 1e12);
    return ours === theirs ? [] : [`${model}: ${name} is ${ours ?? 'not given'} here, ${theirs ?? 'not given'} there`];
  });
}

const [place] = process.argv.slice(2);
if (place === undefined) {
  console.error('usage: npm run prices -- <file or URL of model_prices_and_context_window.json>');
  process.exitCode = 64;
} else {
  const { models } = await read(new URL('../config/prices.json', import.meta.url).pathname);
  const catalogue = await read(place);
  const lines = Object.entries(models).flatMap(([model, price]) => differences(model, price, catalogue[model]));
  console.log(lines.length === 0 ? 'no difference' : lines.join('\n'));
}
