import type { Page } from '../../e2e/calls-world.ts';
import type { TestCall } from '../../support/provider/call.ts';

/** How long a response of the agent lasts. */
const RESPONSE_MS = 100;

/** A call at the stand-in whose agent asks for a tool whenever a node is connected, and what it was answered. */
export class AskingCall {
  /** All outputs that the conversation took, by the names of the tool calls. */
  readonly answers = new Map<string, string[]>();
  readonly askedAtMs = new Map<string, number>();
  readonly name: string;
  readonly #page: Page;
  readonly #call: TestCall;

  constructor(page: Page, call: TestCall, name: string) {
    this.#page = page;
    this.#call = call;
    this.name = name;
    call.onPageEvent = ({ type, item }) => {
      if (type === 'response.created') setTimeout(() => call.finishResponse(), RESPONSE_MS);
      if (type !== 'conversation.item.added') return;
      const { call_id: callId, output } = item as { readonly call_id?: string; readonly output?: string };
      if (callId !== undefined) this.answers.get(callId)?.push(output ?? '');
    };
  }

  get isOver(): boolean {
    return this.#call.ended !== undefined;
  }

  /** Keeps its session; a node that was killed meanwhile answers the next. */
  async beat(): Promise<void> {
    await this.#page.post('/api/realtime/heartbeat').catch(() => undefined);
  }

  /** Answers that the provider refused, because the conversation has an item of that name. */
  get refused(): number {
    const told = this.#call.heard.filter(
      ({ type, item }) => type === 'conversation.item.create' && (item as { call_id?: string }).call_id !== undefined,
    );
    const taken = [...this.answers.values()].reduce((sum, { length }) => sum + length, 0);
    return told.length - taken;
  }

  ask(): void {
    if (this.#call.ended !== undefined || this.#call.sidebands.size === 0) return;
    const callId = `${this.name}_${this.answers.size}`;
    this.answers.set(callId, []);
    this.askedAtMs.set(callId, Date.now());
    this.#call.askForTool(callId, 'lookup');
  }
}
