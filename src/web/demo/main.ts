import '../shared/tokens.css';
import '../shared/frame.css';
import '../shared/chart/chart.css';
import './demo.css';
import { startCopying } from '../shared/copy.ts';
import { Board } from './board.ts';
import { madeUpAddress, obstacle, readConfig, readMachines, showMode } from './config.ts';
import { element, say } from './elements.ts';
import { offerElement } from './live.ts';
import { mask } from './mask.ts';
import { notify } from './notice.ts';
import { Provocations } from './provocations.ts';
import { showTag } from './tag.ts';
import { createWireLog } from './wire-log.ts';
import { watchWire } from './wire.ts';
import { offerWritten } from './written.ts';

/** The page is static until its configuration has arrived. */
async function main(): Promise<void> {
  startCopying();
  const [config, machines] = await Promise.all([readConfig(), readMachines()]);
  const answerer = showMode(config, {
    nobody: 'Simulated: no provider key',
    echo: 'Echo, no model: you hear yourself one second later',
  });
  showTag(config);
  const problem = obstacle(config);
  if (problem !== '') {
    element('written', HTMLElement).hidden = false;
    return notify(problem);
  }

  const wire = watchWire(createWireLog(element('wire', HTMLOListElement)), mask);
  // Each visitor has limits of their own, so that none uses up the next one's day.
  const email = madeUpAddress('visitor');
  say(element('visitor', HTMLElement), `You are ${email}: the limits count for you alone.`);
  const board = new Board(config, machines, new Provocations(wire, email));
  if (answerer === 'nobody') offerWritten(config, email, board);
  else offerElement(config, email, board);
}

main()
  .catch((error: unknown) => notify(`The demo could not start (${String(error)}). Reload the page.`))
  .finally(() => (element('board', HTMLElement).hidden = false));
