import '../shared/tokens.css';
import '../shared/frame.css';
import './demo.css';
import './take-over.css';
import type { TakeOverConfig } from '../../protocol/site-data.ts';
import type { Session } from '../widget/api.ts';
import { startCopying } from '../shared/copy.ts';
import { frames, requests, type Attack, type Loot } from './attacks.ts';
import { madeUpAddress, readTakeOver, showMode } from './config.ts';
import { element, make, say } from './elements.ts';
import { addGauges, askUsage, followUsage, showUsage, startClocks } from './gauges.ts';
import { notify, reviewNotice } from './notice.ts';
import { readRawRequest } from './raw-request.ts';
import { placeElement } from './tag.ts';
import { createWireLog } from './wire-log.ts';
import { watchWire, type Wire } from './wire.ts';

const status = element('status', HTMLElement);

/** The page is static until its configuration has arrived. */
async function main(): Promise<void> {
  startCopying();
  addGauges('dollars', 'tokens', 'duration', 'silence');
  const config = await readTakeOver();
  const { widgetKey, tenantId, agentId, keyOrigin } = config;
  describe(config);
  if (widgetKey === null) return notify('This server serves no demo, so that there is no key to take over.');
  if (keyOrigin !== null && keyOrigin !== location.origin)
    return notify(`The key works from ${keyOrigin} only: open ${keyOrigin}/demo/take-over.`);

  // Each visitor has limits of their own. A visitor who has used them up is a new one after a reload.
  const email = madeUpAddress('taker');
  const atFirst: Loot = { widgetKey, agentId: agentId ?? '', email, sessionId: 'none yet', ticket: 'none yet' };
  let loot = atFirst;
  const wire = watchWire(createWireLog(element('wire', HTMLOListElement)), (text) => text);
  const attacks = [
    offer(
      'frame',
      frames,
      () => loot,
      (text) => sendFrame(wire, text),
    ),
    offer('request', requests, () => loot, sendRequest),
  ];
  const show = (): void => {
    const { sessionId, ticket } = loot;
    const facts = { widgetKey, tenantId, agentId, origin: keyOrigin, email, sm_session_id: sessionId, ticket };
    element('facts', HTMLElement).textContent = JSON.stringify(facts, null, 2);
    for (const renew of attacks) renew();
  };
  offerWidget(config, email, (session) => {
    loot = session === undefined ? atFirst : { ...atFirst, sessionId: session.id, ticket: session.clientSecret.value };
    show();
  });
  show();
  setInterval(reviewNotice, 1000);
}

/** Shows the limits that apply here, and who answers. */
function describe(config: TakeOverConfig): void {
  const { isLocked, tenantId, dailyDollars, dailyDollarsOfAll, sessionMinutes } = config;
  const answerer = showMode(config, { nobody: 'Nobody answers: no provider key', echo: 'Echo, no model' });
  const notes = {
    nobody:
      'This server has no provider key, and its echo reaches browsers of its own machine only: there is no call here, but sessions, frames and requests are real.',
    echo: 'This server has no provider key. An echo takes the model’s place: it says what it hears one second later, obeys no instructions, and costs nothing; what is counted is what the model would have cost, at its list price, and it ends the call just the same.',
    provider: 'The model is real, and so are the dollars: whoever runs this server pays them.',
  };
  say(element('provider-note', HTMLElement), notes[answerer]);
  const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
  const limits = [
    sessionMinutes !== null &&
      `A session talks for at most ${sessionMinutes === 1 ? 'a minute' : `${sessionMinutes} minutes`}, whatever its page does.`,
    dailyDollars !== null &&
      `A visitor costs at most ${money.format(dailyDollars)} a day, and the response that runs when it is reached.`,
    dailyDollarsOfAll !== null &&
      `All visitors whom you invent cost at most ${money.format(dailyDollarsOfAll)} a day together.`,
    'A session ends when its time is over, whatever is sent; so does its call.',
    isLocked
      ? 'The page has no data channel to the provider: nothing here changes what the agent is, or asks for a response of another kind.'
      : 'Pages open their calls themselves here (CALL_MODE): they have a data channel to the provider, and only CALL_MODE=brokered takes it away.',
  ];
  element('limits', HTMLElement).replaceChildren(
    ...limits.filter((limit) => limit !== false).map((limit) => make('li', '', limit)),
  );
  if (tenantId !== null) element('console', HTMLAnchorElement).search = `?tenantId=${tenantId}`;
}

/** Puts the element with the locked key on the page, and shows its session. @param hold receives the session, and undefined once it has ended */
function offerWidget(config: TakeOverConfig, email: string, hold: (session: Session | undefined) => void): void {
  const widget = placeElement(config, { resume: 'off', email });
  let held: Session | undefined;
  let stopClocks = (): void => undefined;

  // Any of these events may be the first one of a conversation.
  function meet(): void {
    const { session } = widget;
    if (session === undefined || session === held) return;
    held = session;
    hold(session);
    notify('');
    say(status, 'Under way.');
    stopClocks = startClocks(session);
    session.on('usage', ({ usage }) => showUsage(usage));
    if (session.brokered) followUsage(session);
    askUsage(session);
  }
  for (const type of ['state', 'transport', 'call', 'media'] as const)
    widget.addEventListener(`switchboard-${type}`, meet);
  widget.addEventListener('switchboard-ended', (event) => {
    const { reason, userMessage } = event.detail;
    held = undefined;
    hold(undefined);
    stopClocks();
    say(status, `Ended: ${reason}.`);
    notify(userMessage, 'end');
  });
  widget.addEventListener('switchboard-error', (event) => {
    const { code, userMessage } = event.detail;
    notify(`${code}: ${userMessage}`);
  });
}

/**
 * Sets up a form that sends the text in it, which starts as one of the attacks.
 * @returns a function to call when the loot has changed: it rewrites the attack unless somebody has edited it
 */
function offer(
  name: 'frame' | 'request',
  attacks: readonly Attack[],
  loot: () => Loot,
  send: (text: string) => Promise<void>,
): () => void {
  const text = element(name, HTMLTextAreaElement);
  const example = element(`${name}-example`, HTMLSelectElement);
  let written = '';
  const begin = (): void => void (text.value = written = attacks[example.selectedIndex]?.write(loot()) ?? '');
  example.append(...attacks.map((attack) => new Option(attack.name)));
  example.addEventListener('change', begin);
  begin();
  element(`${name}-form`, HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault();
    send(text.value).catch((error: unknown) => notify(error instanceof Error ? error.message : String(error)));
  });
  return () => void (text.value === written && begin());
}

async function sendFrame(wire: Wire, text: string): Promise<void> {
  if (!wire.sendRaw(text))
    throw new Error('No socket is open: start a conversation, or wait until the widget has another one.');
}

/** Sent without cookies: a customer's website is another origin, from where no login of this server is sent. */
async function sendRequest(text: string): Promise<void> {
  const { path, method, headers, body } = readRawRequest(text);
  await fetch(path, { method, headers: headers.map(([name, value]) => [name, value]), body, credentials: 'omit' });
}

main()
  .catch((error: unknown) => notify(`The page could not start (${String(error)}). Reload it.`))
  .finally(() => (element('board', HTMLElement).hidden = false));
