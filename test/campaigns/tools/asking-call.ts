import type { Page } from '../../e2e/calls-world.ts';
import type { TestCall } from '../../support/provider/call.ts';

/** How long a response of the agent lasts. */
const RESPONSE_MS = 100;

/** A call of a tool that an agent asked for. */
export interface AskedTool {
  readonly id: string;
  readonly atMs: number;
  /** All outputs that the conversation took for it. */
  readonly outputs: string[];
  /** How the last connection that was told of it ended; undefined while it is open. */
  end?: { readonly atMs: number; readonly code: number };
}

/** A call at the stand-in whose agent asks for a tool whenever a node is connected, and what it was answered. */
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

  /** Responses that nodes asked for. */
  get responses(): number {
    return this.#responses;
  }

  /** Answers that the conversation took. */
  get answers(): number {
    return this.asked.reduce((sum, { outputs }) => sum + outputs.length, 0);
  }

  /** Answers that the provider refused, because the conversation has an item of that name. */
  get refused(): number {
    const told = this.#call.heard.filter(
      ({ type, item }) => type === 'conversation.item.create' && (item as { call_id?: string }).call_id !== undefined,
    );
    return told.length - this.answers;
  }

  /** Keeps its session; a node that was killed meanwhile answers the next. */
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
