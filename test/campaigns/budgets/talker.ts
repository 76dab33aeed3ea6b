import { setTimeout as delay } from 'node:timers/promises';
import { microDollars, Page, responseOf } from '../../e2e/calls-world.ts';
import type { TestCall } from '../../support/provider/call.ts';
import type { Switchboard } from '../../support/switchboard.ts';
import type { World } from '../../support/world.ts';
import type { Random } from '../faults/random.ts';
import type { Kind } from './kinds.ts';
import type { Looks } from './looks.ts';

/** What a talker uses each time. */
const UNIT = responseOf(1);
export const UNITS = { tokens: UNIT.tokens, dollars: microDollars(UNIT.pico) } as const;

/** Pause between two uses of one talker: longer than it takes to end its session. */
const EVERY_MS = { min: 800, max: 1200 };
const BEAT_EVERY_MS = 5000;
const AGAIN_MS = 200;
const OPENED_WITHIN_MS = 90_000;

/** Where a talker's session is; its usage counts for budgets of this tenant, key and agent. */
export interface Place {
  readonly tenantId: string;
  readonly keyId: string;
  readonly widgetKey: string;
  readonly agentId: string;
}

export interface TalkerParts {
  readonly world: World;
  readonly nodes: readonly Switchboard[];
  readonly looks: Looks;
  readonly random: Random;
}

/** The origin of node number `n`, or of another one if that node was just killed. */
export function originOf({ nodes, world }: Pick<TalkerParts, 'nodes' | 'world'>, n: number): string {
  const node = nodes[n % nodes.length];
  return (node?.isRunning === true ? node : (nodes.find(({ isRunning }) => isRunning) ?? world.server)).origin;
}

let reports = 0;

/** A unique name for a report for whose answer the caller waits. */
export function named(isLost = () => false): { readonly name: string; readonly isLost: () => boolean } {
  reports += 1;
  return { name: `report-${reports}`, isLost };
}

/** A user who uses something again and again until the session is over, in a call or through reports of a back end. */
export class Talker {
  readonly page: Page;
  readonly place: Place;
  readonly subject: string;
  isOver = false;
  readonly #parts: TalkerParts;
  readonly #call: TestCall | undefined;
  readonly #beat: NodeJS.Timeout;

  private constructor(parts: TalkerParts, place: Place, page: Page, subject: string, call: TestCall | undefined) {
    this.#parts = parts;
    this.place = place;
    this.page = page;
    this.subject = subject;
    this.#call = call;
    this.#beat = setInterval(() => void this.#heartbeat(), BEAT_EVERY_MS);
  }

  /** Opens a session at one of the nodes, with or without a call, retrying until it is open. */
  static async open(parts: TalkerParts, place: Place, node: number, hasCall: boolean): Promise<Talker> {
    const { world, looks } = parts;
    const { widgetKey, agentId } = place;
    for (const endMs = Date.now() + OPENED_WITHIN_MS; ;) {
      const page = Page.of(world).at(() => originOf(parts, node));
      try {
        await page.create({ widgetKey, agentId });
        const call = hasCall ? await dial(page, parts) : undefined;
        return new Talker(parts, place, page, await looks.subjectOf(page.sessionId), call);
      } catch (error) {
        if (Date.now() > endMs) throw error;
        await page.end().catch(() => undefined);
        await delay(AGAIN_MS);
      }
    }
  }

  get sessionId(): string {
    return this.page.sessionId;
  }

  /** Uses one unit after another while `isWanted` holds. */
  async burn(isWanted: () => boolean): Promise<void> {
    const { random } = this.#parts;
    await delay(random.between(0, EVERY_MS.max));
    for (; isWanted() && !this.isOver; await delay(random.between(EVERY_MS.min, EVERY_MS.max))) await this.#use();
  }

  /**
   * Reports usage as a back end does, until it is known to be counted.
   * @param used the amount of one measure; of the other measure it reports one unit
   * @param isLost whether the caller no longer waits for the answer
   */
  async report(
    used: { readonly amount: number; readonly measure: Kind['measure'] },
    node: number,
    { name, isLost }: { readonly name: string; readonly isLost: () => boolean } = named(),
  ): Promise<void> {
    const { amount, measure } = used;
    const tokens = measure === 'tokens' ? amount : UNITS.tokens;
    const dollars = (measure === 'dollars' ? amount : UNITS.dollars) / 1_000_000;
    const body = { sm_session_id: this.sessionId, tokens, dollars };
    for (let tries = 0; !isLost(); tries += 1) {
      const backend = this.#parts.world.backend(() => originOf(this.#parts, node + tries));
      const reply = await backend.post('/api/auth/usage', body, { 'Idempotency-Key': name }).catch(() => undefined);
      if (reply?.status === 429) this.isOver = true;
      if (reply !== undefined && reply.status < 500) return;
      await delay(AGAIN_MS);
    }
  }

  stop(): void {
    clearInterval(this.#beat);
  }

  async #use(): Promise<void> {
    if (this.#call === undefined)
      return this.report({ amount: UNITS.tokens, measure: 'tokens' }, this.#parts.random.between(0, 1));
    if (this.#call.ended === undefined) this.#call.respond(UNIT.usage);
    else this.isOver = true;
    return undefined;
  }

  async #heartbeat(): Promise<void> {
    const reply = await this.page.post('/api/realtime/heartbeat').catch(() => undefined);
    if (reply !== undefined && reply.status >= 400 && reply.status < 500) this.isOver = true;
  }
}

async function dial(page: Page, { world, looks }: TalkerParts): Promise<TestCall> {
  const { status, text } = await page.exchange();
  if (status !== 201) throw new Error(text);
  const id = await looks.providerCallOf(page.sessionId);
  const call = world.provider.calls.all.find((one) => one.id === id);
  if (call === undefined) throw new Error('the provider has no such call');
  return call;
}
