import '../shared/tokens.css';
import '../console/chart/chart.css';
import './demo.css';
import { answererOf, obstacle, readConfig, readMachines } from './config.ts';
import { element, say } from './elements.ts';
import { showCode } from './code.ts';
import { notify } from './notice.ts';
import { Stage } from './stage.ts';

/** The page is static until its configuration is there. */
async function main(): Promise<void> {
  showCode();
  const [config, machines] = await Promise.all([readConfig(), readMachines()]);
  const answerer = answererOf(config);
  const mode = element('mode', HTMLElement);
  const modes = {
    nobody: 'Simulated: no provider key',
    echo: 'Echo, no model: you hear yourself one second later',
    provider: `Live: ${config.provider.name}`,
  };
  say(mode, modes[answerer]);
  mode.dataset['mode'] = config.provider.simulated ? 'simulated' : 'live';
  element('captions', HTMLOListElement).dataset['empty'] =
    answerer === 'nobody' ? 'What is said appears here.' : 'You hear what is said; this page does not write it down.';
  element('written', HTMLElement).hidden = answerer !== 'echo';
  const problem = obstacle(config);
  if (problem !== '') return notify(problem);
  new Stage(config, machines).open();
}

main().catch((error: unknown) => notify(`The demo could not start (${String(error)}). Reload the page.`));
