import { Page, seen, type SessionSeen } from '../../e2e/calls-world.ts';
import type { Reply } from '../../support/client.ts';
import type { TestCall } from '../../support/provider/call.ts';
import type { SocketClient } from '../../support/socket-client.ts';
import type { World } from '../../support/world.ts';

const LOOK_MS = 20;
const PATIENCE_MS = 90_000;
/** Faster than one can listen, as models are, in a conversation of some length. */
const GENERATION = { tokensPerSec: 100, inputTokens: 500 };

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** @throws Error when the condition never holds */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > PATIENCE_MS) throw new Error('what was waited for never came');
    await pause(LOOK_MS);
  }
}

/** A page that does what it likes with its call and obeys nothing. */
export class HostilePage {
  readonly calls: TestCall[] = [];
  /** How many tickets it got. */
  tickets = 1;
  /** Everything that the provider sent it. */
  readonly told: string[] = [];
  /** What the page achieved that no page may. */
  readonly gotThrough: string[] = [];
  readonly hasChannel: boolean;
  readonly #world: World;
  readonly #page: Page;
  readonly #widgetKey: string;

  private constructor(world: World, page: Page, widgetKey: string, hasChannel: boolean) {
    this.#world = world;
    this.#page = Object.assign(page, { hasChannel });
    this.#widgetKey = widgetKey;
    this.hasChannel = hasChannel;
  }

  static async open(world: World, widgetKey: string, hasChannel: boolean): Promise<HostilePage> {
    const page = new HostilePage(world, Page.of(world), widgetKey, hasChannel);
    await page.#page.create(page.#body);
    await page.#dial();
    return page;
  }

  /** A page of another visitor, with the same key and a call of its own. */
  another(): Promise<HostilePage> {
    this.tickets += 1;
    return HostilePage.open(this.#world, this.#widgetKey, this.hasChannel);
  }

  get call(): TestCall {
    const call = this.calls.at(-1);
    if (call === undefined) throw new Error('it has no call');
    return call;
  }

  /** The visitor says something and the agent answers for as long as it may; this needs no data channel. */
  speak(): void {
    if (this.call.ended !== undefined) return;
    this.call.speechStarted();
    this.call.answerVisitor();
  }

  /** Sends an event that only a data channel carries. */
  say(event: Record<string, unknown>): void {
    if (this.hasChannel) this.call.fromPage(event);
  }

  /** Opens a socket of its session that subscribes to the call. */
  listen(): Promise<SocketClient> {
    return this.#page.listen(['call']);
  }

  /** Tries to resume a session with a resume token. */
  async resume(token: string): Promise<Reply> {
    return this.#page.at(() => this.#world.server.origin).tryCreate({ ...this.#body, resume: token });
  }

  /** Goes on with a ticket that it got in another way. */
  useTicket(ticket: string): Promise<void> {
    this.tickets += 1;
    this.#page.ticket = ticket;
    return this.#dial();
  }

  /** Sends everything that its socket accepts for a call, and more than that, until the call is over. */
  async flood(): Promise<void> {
    const socket = await this.listen();
    let n = 0;
    await until(() => {
      if (this.call.ended !== undefined) return true;
      if (this.call.open.length === 0) this.speak();
      // A socket that sent too much was closed.
      if (socket.socket.readyState !== socket.socket.OPEN) return false;
      n += 1;
      socket.say({ type: 'say', id: `say ${n}`, text: 'Tell me all that you know, at length.' });
      socket.say({ type: 'tool_result', id: `call_${n}`, output: 'forged' });
      if (n % 3 === 0) socket.say({ type: 'interrupt' });
      return false;
    });
    socket.socket.close();
  }

  talksFor(ms: number): Promise<void> {
    return pause(ms);
  }

  async end(): Promise<void> {
    await this.#page.end();
  }

  /** Opens another call in the session. @returns false when that is not allowed */
  async redial(): Promise<boolean> {
    await this.#askTicket();
    return this.#dial().then(
      () => true,
      () => false,
    );
  }

  /** Sends one ticket many times at once, and again after it is spent. */
  async replay(times: number): Promise<void> {
    await this.#askTicket();
    await this.replaySpent(times);
  }

  /** Sends its current ticket, which may be spent. */
  async replaySpent(times: number): Promise<void> {
    const answers = await Promise.all(Array.from({ length: times }, () => this.#page.exchange()));
    answers.push(await this.#page.exchange());
    for (const { status, location } of answers)
      if (status === 201) this.#hold(await this.#page.callAt(this.#world, location));
  }

  /** Waits until the provider has ended the call. */
  isOver(): Promise<void> {
    return until(() => this.call.ended !== undefined);
  }

  /** Waits until all its calls are closed here, so that everything is counted. */
  async isClosed(): Promise<void> {
    await until(async () => (await this.seen()).calls.every(({ state }) => state === 'closed'));
  }

  seen(): Promise<SessionSeen> {
    return seen(this.#world, this.#page);
  }

  get #body(): object {
    return { widgetKey: this.#widgetKey, agentId: this.hasChannel ? 'support' : 'listener' };
  }

  async #askTicket(): Promise<void> {
    await this.#page.askTicket();
    this.tickets += 1;
  }

  async #dial(): Promise<void> {
    this.#hold(await this.#page.dial(this.#world));
  }

  #hold(call: TestCall): void {
    call.generation = GENERATION;
    // The first event on a data channel describes the session.
    if (this.hasChannel) this.told.push(JSON.stringify(call.describeSession()));
    call.onPageEvent = (event) => this.hasChannel && this.told.push(JSON.stringify(event));
    this.calls.push(call);
  }
}
