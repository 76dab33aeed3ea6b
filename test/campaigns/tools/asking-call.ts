import type { Page } from '../../e2e/calls-world.ts';
import type { TestCall } from '../../support/provider/call.ts';

/** How long a response of the agent lasts. */
const RESPONSE_MS = 100;

/** A tool call that an agent asked for. */
export interface AskedTool {
  readonly id: string;
  readonly atMs: number;
  /** All outputs for it that the conversation accepted. */
  readonly outputs: string[];
  /** How the last connection ended that was told of it; undefined while that is open. */
  end?: { readonly atMs: number; readonly code: number };
}

/** A call at the stand-in whose agent asks for a tool whenever a node is connected, and the answers that it got. */
export class AskingCall {
  readonly asked: AskedTool[] = [];
  readonly name: string;
  readonly #page: Page;
  readonly #call: TestCall;
  #isAsking = false;
  #responses = 0;

  constructor(page: Page, call: TestCall, name: string) {
    this.#page = page;
    this.#call = call;
    this.name = name;
    call.onPageEvent = ({ type, item }) => {
      if (type === 'response.created') {
        if (!this.#isAsking) this.#responses += 1;
        setTimeout(() => call.finishResponse(), RESPONSE_MS);
      }
      if (type !== 'conversation.item.added') return;
      const { call_id: callId, output } = item as { readonly call_id?: string; readonly output?: string };
      this.asked.find(({ id }) => id === callId)?.outputs.push(output ?? '');
    };
  }

  get providerId(): string {
    return this.#call.id;
  }

  get isOver(): boolean {
    return this.#call.ended !== undefined;
  }

  /** How many responses nodes asked for. */
  get responses(): number {
    return this.#responses;
  }

  /** How many answers the conversation accepted. */
  get answers(): number {
    return this.asked.reduce((sum, { outputs }) => sum + outputs.length, 0);
  }

  /** How many answers the provider refused because the conversation already has an item with that id. */
  get refused(): number {
    const told = this.#call.heard.filter(
      ({ type, item }) => type === 'conversation.item.create' && (item as { call_id?: string }).call_id !== undefined,
    );
    return told.length - this.answers;
  }

  /** Keeps the session alive; if a node was killed meanwhile, the next heartbeat is answered. */
  async beat(): Promise<void> {
    await this.#page.post('/api/realtime/heartbeat').catch(() => undefined);
  }

  ask(): void {
    const told = new Set(this.#call.sidebands);
    if (this.isOver || told.size === 0) return;
    const asked: AskedTool = { id: `${this.name}_${this.asked.length}`, atMs: Date.now(), outputs: [] };
    this.asked.push(asked);
    for (const sideband of told)
      sideband.once('close', (code) => {
        told.delete(sideband);
        if (told.size === 0) asked.end = { atMs: Date.now(), code };
      });
    this.#isAsking = true;
    this.#call.askForTool(asked.id, 'lookup');
    this.#isAsking = false;
  }
}
