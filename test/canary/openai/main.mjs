// Asks OpenAI what its documentation leaves open about calls, with a real key and for at most $0.50. Not part of `npm run test:all`.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const usage = `The canary calls OpenAI for real and costs money, at most $0.50; so it runs only where a key is given:

  OPENAI_API_KEY=sk-... npm run canary [-- options]

Options:
  --only <names>        comma-separated subset of the questions
  --model <name>        a model of the realtime API (gpt-realtime-2.1-mini)
  --live-model <name>   a model of the live API (gpt-live-1)
  --list                prints the questions and what each may cost, and asks nothing`;

/** Prints a table of answers. Exits with 64 if there is no key, and with 1 if a call could not be ended. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      model: { type: 'string', default: 'gpt-realtime-2.1-mini' },
      'live-model': { type: 'string', default: 'gpt-live-1' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(usage);
  // Node 20 cannot run TypeScript.
  const load = async (url) => (await runnerImport(fileURLToPath(url), { configFile: false, logLevel: 'warn' })).module;
  const canary = await load(new URL('canary.ts', import.meta.url));
  if (values.list) return console.log(canary.listQuestions());
  const apiKey = process.env.OPENAI_API_KEY?.trim();
  if (!apiKey) {
    console.error(usage);
    process.exitCode = 64;
    return;
  }
  const { openBrowser } = await load(new URL('werift-browser.ts', import.meta.url));
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const { text, isClean } = await canary.runCanary({
    apiKey,
    baseUrl: 'https://api.openai.com/v1',
    model: values.model,
    liveModel: values['live-model'],
    only: values.only?.split(','),
    openBrowser,
    patienceMs: 10_000,
    quietMs: 30_000,
    usageMs: 130_000,
    signal: stop.signal,
    say: (line) => console.log(line),
  });
  console.log(text);
  process.exit(isClean ? 0 : 1);
}
