import type { TestCall } from '../../support/provider/call.ts';
import type { SocketClient } from '../../support/socket-client.ts';
import { until, type HostilePage } from './hostile-page.ts';

/** Part of every text that a page must not be able to send to the provider. */
const FORGED = 'forged';
const TOOL = 'find_order';
/** More than the 16 KiB that a tool's answer may have, and less than the 20 KiB of a message. */
const TOO_LONG = FORGED.padEnd(17 * 1024, '.');
const AT_ONCE = 10;
/** Without heartbeats this often, sessions become stale. */
const BEAT_MS = 2000;

type Frame = Readonly<Record<string, unknown>>;

interface ToldItem {
  readonly type: string;
  readonly call_id?: string;
  readonly output?: string;
  readonly content?: readonly { readonly text: string }[];
}

/**
 * Answers tools through its socket: one that was never asked; one of another session, and its own through that session's socket; with more than
 * an answer may have; from two sockets at once; and after the deadline. A page with a data channel gets tool requests only there, and forges
 * answers there as well.
 */
export async function forgeTools(page: HostilePage): Promise<void> {
  const other = await page.another();
  const [mine, beside, theirs] = [await page.listen(), await page.listen(), await other.listen()];
  await Promise.all([mine, beside, theirs].map((socket) => hears(socket, ({ state }) => state === 'open')));
  const isAsked = (socket: SocketClient, id: string): Promise<void> =>
    page.hasChannel ? Promise.resolve() : hears(socket, (frame) => frame['type'] === 'tool' && frame['id'] === id);

  for (const [whose, id] of [[page, 'call_mine'] as const, [other, 'call_theirs'] as const]) {
    whose.speak();
    whose.call.askForTool(id, TOOL);
  }
  await Promise.all([isAsked(mine, 'call_mine'), isAsked(theirs, 'call_theirs')]);
  answer(mine, 'call_never_asked', FORGED);
  answer(mine, 'call_theirs', FORGED);
  answer(theirs, 'call_mine', FORGED);
  answer(mine, 'call_mine', TOO_LONG);
  await Promise.all([mine, theirs].map(isDealtWith));
  for (const socket of [mine, beside, mine]) answer(socket, 'call_mine', 'Found it.');
  await Promise.all([mine, beside].map(isDealtWith));

  page.speak();
  page.call.askForTool('call_late', TOOL);
  await isAsked(mine, 'call_late');
  if (!page.hasChannel) await staysUntil(mine, () => answersOf(page.call, 'call_late').length > 0);
  answer(mine, 'call_late', FORGED);
  await isDealtWith(mine);

  for (const output of [FORGED, TOO_LONG])
    page.say({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_theirs', output },
    });
  page.say({ type: 'response.create' });
  for (const call of [...page.calls, ...other.calls]) page.gotThrough.push(...forgeriesTold(call));
  await other.end();
  await other.isOver();
  await other.isClosed();
}

/**
 * Repeats what works only once: a resume token (tried first by another visitor, then many times at once, then again); spent tickets; and
 * the frames of its socket after another page has resumed its session.
 */
export async function replayAll(page: HostilePage): Promise<void> {
  const [other, former] = [await page.another(), await page.listen()];
  await hears(former, ({ state }) => state === 'open');
  const token = String(framesOf(former).find(({ type }) => type === 'attached')?.['resume']);
  page.speak();
  page.call.askForTool('call_former', TOOL);
  if ((await other.resume(token)).status === 200) page.gotThrough.push("went on with another visitor's session");
  await page.replaySpent(AT_ONCE);

  const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => page.resume(token)));
  const resumed = replies.filter(({ status }) => status === 200);
  if (resumed.length !== 1) page.gotThrough.push(`went on ${resumed.length} times by one resume token`);
  sendAll(former);
  await page.useTicket(resumed[0]?.body.client_secret?.value ?? '');
  sendAll(former);
  if ((await page.resume(token)).status === 200) page.gotThrough.push('went on by a resume token that was spent');
  await page.replaySpent(AT_ONCE);
  await until(() => former.socket.readyState === former.socket.CLOSED);
  const { code } = await former.closed;
  if (code !== 4408) page.gotThrough.push(`kept its former socket, which was closed with ${code}`);
  if ((await page.seen()).state === 'ended') page.gotThrough.push('ended its session by its former socket');
  for (const call of page.calls) page.gotThrough.push(...forgeriesTold(call));
  await other.end();
  await other.isOver();
  await other.isClosed();
}

/** Sends everything that a page may ask through its socket, if that is still open. */
function sendAll(socket: SocketClient): void {
  if (socket.socket.readyState !== socket.socket.OPEN) return;
  socket.say({ type: 'say', id: FORGED, text: FORGED });
  answer(socket, 'call_former', FORGED);
  socket.say({ type: 'interrupt' });
  socket.say({ type: 'end' });
}

function answer(socket: SocketClient, id: string, output: string): void {
  socket.say({ type: 'tool_result', id, output });
}

function framesOf({ messages }: SocketClient): Frame[] {
  return messages.map((text) => JSON.parse(text) as Frame);
}

function hears(socket: SocketClient, isIt: (frame: Frame) => boolean): Promise<void> {
  return until(() => framesOf(socket).some(isIt));
}

/** Waits until earlier frames of the socket are handled: frames are answered in order. */
async function isDealtWith(socket: SocketClient): Promise<void> {
  const beats = (): number => framesOf(socket).filter(({ type }) => type === 'heartbeat').length;
  const before = beats();
  socket.say({ type: 'heartbeat' });
  await until(() => beats() > before);
}

/** Waits for a condition and keeps the session alive meanwhile. */
async function staysUntil(socket: SocketClient, isSo: () => boolean): Promise<void> {
  let beatAtMs = 0;
  await until(() => {
    const at = performance.now();
    if (at - beatAtMs > BEAT_MS) {
      socket.say({ type: 'heartbeat' });
      beatAtMs = at;
    }
    return isSo();
  });
}

function itemsOf({ heard }: TestCall): ToldItem[] {
  return heard.flatMap(({ type, item }) => (type === 'conversation.item.create' ? [item as ToldItem] : []));
}

function answersOf(call: TestCall, id: string): ToldItem[] {
  return itemsOf(call).filter(({ call_id }) => call_id === id);
}

/** What the service told the provider on behalf of pages that had no right to say it. */
function forgeriesTold(call: TestCall): string[] {
  const items = itemsOf(call);
  const forged = items.filter((item) => JSON.stringify(item).includes(FORGED));
  const answered = items.flatMap(({ call_id }) => call_id ?? []);
  const twice = answered.filter((id, index) => answered.indexOf(id) !== index);
  return [
    ...forged.map((item) => `had the provider told: ${JSON.stringify(item).slice(0, 200)}`),
    ...twice.map((id) => `had ${id} answered twice`),
  ];
}
