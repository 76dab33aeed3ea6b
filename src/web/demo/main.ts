import '../shared/tokens.css';
import './demo.css';
import { readConfig, obstacle } from './config.ts';
import { element, say } from './elements.ts';
import { showCode } from './code.ts';
import { notify } from './notice.ts';
import { Stage } from './stage.ts';

/** The page is static until its configuration is there. */
async function main(): Promise<void> {
  showCode();
  const config = await readConfig();
  const { name, simulated } = config.provider;
  const mode = element('mode', HTMLElement);
  say(mode, simulated ? 'Simulated: no provider key' : `Live: ${name}`);
  mode.dataset['mode'] = simulated ? 'simulated' : 'live';
  element('captions', HTMLOListElement).dataset['empty'] = simulated
    ? 'What is said appears here.'
    : 'You hear what is said; this page does not write it down.';
  const problem = obstacle(config);
  if (problem !== '') return notify(problem);
  new Stage(config).open();
}

main().catch((error: unknown) => notify(`The demo could not start (${String(error)}). Reload the page.`));
