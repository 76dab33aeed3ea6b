import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../support/client.ts';
import type { Random } from '../faults/random.ts';
import type { Page } from '../../e2e/calls-world.ts';
import type { Change, ObservedAccount, ObservedSession, ObservedStory, Probe } from './judge.ts';
import { isExact, isOfEach, type Kind } from './kinds.ts';
import type { Scope, ToldFact } from './looks.ts';
import type { Stored } from './stored.ts';
import type { Strikes } from './strikes.ts';
import { named, originOf, Talker, UNITS, type Place, type TalkerParts } from './talker.ts';

export interface StoryParts extends TalkerParts {
  readonly strikes: Strikes;
  /** Places of a tenant of its own with two keys and two agents; budgets apply to `near` and `a0`. */
  readonly placeOf: (keyId: 'near' | 'far', agentId: 'a0' | 'a1') => Place;
  readonly tenantId: string;
}

const WARN_AT = [40, 80];
/** How many units use up a budget: for one talker alone, or for one together with two others. */
const UNITS_ALONE = 7;
const UNITS_TOGETHER = 15;
/** Every node knows a budget within this time. */
const KNOWN_MS = 2000;
/** How long to wait before a request is repeated that got no answer. */
const AGAIN_MS = 150;
/** For how long talkers go on when nothing is left. */
const OVER_MS = 4000;
const PROBE_EVERY_MS = 700;
/** A living node looks at all budgets every minute, and after a minute and a half another node is the one that is killed. */
const TOLD_WITHIN_MS = 200_000;
const REOPENED_WITHIN_MS = 20_000;
const STRIKES = 0.75;
const FREEZES = 0.4;
/** How often talkers stop after a strike, so that a node must find the threshold in its regular look at all budgets. */
const SILENCES = 0.5;

/** Uses up one budget, raises and lowers it, and records everything that follows. */
export class Story {
  readonly #kind: Kind;
  readonly #parts: StoryParts;
  readonly #id: string;
  readonly #random: Random;
  readonly #probes: Probe[] = [];
  #talkers: Talker[] = [];
  #limit = 0;
  #isBurning = false;
  #spentAtMs: number | undefined;
  #raised: ObservedStory['raised'];
  #lowered: ObservedStory['lowered'];
  /** Opened after the raise. */
  #another: Page | undefined;
  /** The ends of all sessions, read before the campaign itself ends those that go on. */
  #ends: readonly ObservedSession[] = [];
  /** How many thresholds were reported only by a node's regular look, after all talkers had stopped. */
  toldByLook = 0;

  constructor(kind: Kind, parts: StoryParts) {
    this.#kind = kind;
    this.#parts = parts;
    this.#random = parts.random;
    this.#id = `of-${parts.tenantId}`;
  }

  get name(): string {
    const { of, period, then, measure } = this.#kind;
    return `${this.#id} (${of}, ${period}, ${then}, ${measure})`;
  }

  async run(): Promise<void> {
    this.#talkers = await this.#openTalkers();
    await this.#make();
    await delay(KNOWN_MS);
    await this.#burnTo(0.25);
    await this.#cross(40);
    await this.#burnTo(0.65);
    await this.#cross(80);
    await this.#useUp();
    await this.#until(async () => this.#isTold(await this.#facts(), 100), TOLD_WITHIN_MS);
    await this.#until(() => this.#isAllEnded(), TOLD_WITHIN_MS);
    await this.#raise();
    await this.#lower();
    const opened = [...this.#talkers, this.#another].flatMap((one) => (one === undefined ? [] : [one.sessionId]));
    this.#ends = await this.#parts.looks.sessions(opened);
    if (this.#kind.of === 'installation') await this.#ask((backend) => backend.delete(this.#path));
  }

  /** The outcome, once everything was reported. */
  async observe(
    stored: Stored,
    eventsOf: (budgetId: string, account: string) => ObservedAccount['events'],
  ): Promise<ObservedStory> {
    const { strikes } = this.#parts;
    const { measure, then } = this.#kind;
    const facts = await stored.facts(this.#target);
    const accounts: ObservedAccount[] = [];
    for (const [name, { scope, talkers }] of this.#accounts())
      accounts.push({
        name,
        entries: await stored.entries(scope, measure),
        sessions: this.#endsOf(talkers),
        facts: facts.filter(({ account }) => account === name),
        events: eventsOf(this.#id, name),
      });
    return {
      name: this.name,
      then,
      warnAt: WARN_AT,
      isExact: isExact(this.#kind),
      isOfSession: this.#kind.period === 'session',
      limit: this.#limit,
      raisedTo: this.#limit * 2,
      raised: this.#raised,
      lowered: this.#lowered,
      another: this.#ends.find(({ id }) => id === this.#another?.sessionId),
      accounts,
      outsiders: this.#endsOf(this.#talkers.filter((talker) => !this.#counts(talker))),
      spentAtMs: this.#spentAtMs,
      probes: this.#probes,
      strikes: strikes.all,
    };
  }

  #endsOf(talkers: readonly Talker[]): ObservedSession[] {
    return this.#ends.filter(({ id }) => talkers.some(({ sessionId }) => sessionId === id));
  }

  /** Ends all sessions that are still open. */
  async close(): Promise<void> {
    await this.#another?.end().catch(() => undefined);
    for (const talker of this.#talkers) {
      talker.stop();
      await talker.page.end().catch(() => undefined);
    }
  }

  async #openTalkers(): Promise<Talker[]> {
    const { placeOf } = this.#parts;
    const near = placeOf('near', 'a0');
    const of = this.#kind.of;
    const places = [near, near, near];
    if (of === 'key') places.push(placeOf('far', 'a0'));
    if (of === 'agent') places.push(placeOf('near', 'a1'));
    // The first talker reports usage, so that it can use exactly what is missing; two others use calls.
    return Promise.all(places.map((place, n) => Talker.open(this.#parts, place, n % 2, n === 1 || n === 2)));
  }

  get #lead(): Talker {
    const [lead] = this.#talkers;
    if (lead === undefined) throw new Error('nobody talks');
    return lead;
  }

  #counts({ place, sessionId }: Pick<Talker, 'place' | 'sessionId'>): boolean {
    const { of } = this.#kind;
    if (of === 'key') return place.keyId === 'near';
    if (of === 'agent') return place.agentId === 'a0';
    return of !== 'one user' || sessionId === this.#lead.sessionId;
  }

  /** Accounts by the names that operators see; the first is the lead's. */
  #accounts(): Map<string, { readonly scope: Scope; readonly talkers: Talker[] }> {
    const found = new Map<string, { readonly scope: Scope; readonly talkers: Talker[] }>();
    for (const talker of this.#talkers.filter((each) => this.#counts(each))) {
      const { name, scope } = this.#accountOf(talker);
      const known = found.get(name);
      if (known === undefined) found.set(name, { scope, talkers: [talker] });
      else known.talkers.push(talker);
    }
    return found;
  }

  #accountOf({ sessionId, subject }: Talker): { readonly name: string; readonly scope: Scope } {
    const { tenantId } = this.#parts;
    const { of, period } = this.#kind;
    if (period === 'session') return { name: sessionId.slice(0, 42), scope: { sessionId } };
    if (of === 'user' || of === 'one user') return { name: subject, scope: { subject } };
    if (of === 'key') return { name: `key:${tenantId}:near`, scope: { tenantId, keyId: 'near' } };
    if (of === 'agent') return { name: `agent:${tenantId}:a0`, scope: { tenantId, agentId: 'a0' } };
    return of === 'tenant' ? { name: `tenant:${tenantId}`, scope: { tenantId } } : { name: of, scope: {} };
  }

  async #make(): Promise<void> {
    const { of, period, then, measure } = this.#kind;
    const names = { key: 'key:near', agent: 'agent:a0', 'one user': `user:${this.#lead.subject}` } as const;
    const isAlone = isOfEach(this.#kind) || of === 'one user';
    this.#limit =
      UNITS[measure] * (isAlone ? UNITS_ALONE : UNITS_TOGETHER) + (of === 'installation' ? await this.#used() : 0);
    const terms = { period, then, warnAt: WARN_AT, tell: [], ...this.#amount(this.#limit) };
    await this.#ask((backend) =>
      backend.post('/api/operator/budgets', {
        ...this.#tenant(),
        id: this.#id,
        of: of in names ? names[of as keyof typeof names] : of,
        ...terms,
      }),
    );
  }

  #tenant(): object {
    return this.#kind.of === 'installation' ? {} : { tenantId: this.#parts.tenantId };
  }

  #amount(amount: number): object {
    return this.#kind.measure === 'tokens' ? { tokens: amount } : { dollars: amount / 1_000_000 };
  }

  #used(): Promise<number> {
    return this.#parts.looks.used(this.#accountOf(this.#lead).scope, this.#kind.measure);
  }

  /** The budget as facts name it. */
  get #target(): string {
    const { of } = this.#kind;
    return `${of === 'installation' ? of : this.#parts.tenantId}/${this.#id}`;
  }

  #facts(): Promise<ToldFact[]> {
    return this.#parts.looks.facts(this.#target);
  }

  #isTold(facts: readonly ToldFact[], percent: number): boolean {
    const { name } = this.#accountOf(this.#lead);
    return facts.some((fact) => fact.account === name && fact.percent >= percent);
  }

  /** Lets all talkers use something until the lead's account has reached this share, or all talkers are over. */
  async #burnTo(share: number): Promise<void> {
    await this.#burnWhile(async () => (await this.#used()) < share * this.#limit);
  }

  async #burnWhile(isWanted: () => Promise<boolean>): Promise<void> {
    this.#isBurning = true;
    const burning = this.#talkers.map((talker) => talker.burn(() => this.#isBurning));
    while (this.#talkers.some(({ isOver }) => !isOver) && (await isWanted())) await delay(this.#parts.looks.everyMs);
    this.#isBurning = false;
    await Promise.all(burning);
  }

  /** The lead uses exactly what a threshold lacks. Right after its entry is saved, a node may be killed or PostgreSQL frozen. */
  async #cross(percent: number): Promise<void> {
    const goal = Math.ceil((this.#limit * percent) / 100);
    const missing = goal - (await this.#used());
    if (missing <= 0 || this.#lead.isOver) return;
    const { strikes, looks } = this.#parts;
    const strike = this.#random.chance(STRIKES) && strikes.take();
    let isStruck = false;
    const { victim } = strikes;
    const report = named(() => isStruck);
    const used = { amount: missing, measure: this.#kind.measure };
    const answered = this.#lead.report(used, victim, report);
    if (!strike) return answered;
    try {
      await looks.whenSaved(report.name);
      isStruck = true;
      if (this.#random.chance(FREEZES)) await strikes.freeze(victim);
      else await strikes.kill(victim);
      await answered;
    } finally {
      strikes.release();
    }
    // The kill came too early.
    if ((await this.#used()) < goal) return this.#lead.report(used, victim, { name: report.name, isLost: () => false });
    if (this.#isTold(await this.#facts(), percent)) return undefined;
    strikes.met += 1;
    if (!this.#random.chance(SILENCES)) return undefined;
    await this.#until(async () => this.#isTold(await this.#facts(), percent), TOLD_WITHIN_MS);
    this.toldByLook += Number(this.#isTold(await this.#facts(), percent));
    return undefined;
  }

  /** Uses up the budget, by a single report or by all talkers; then they go on for a while, and creates are tried. */
  async #useUp(): Promise<void> {
    if (this.#random.chance(0.6)) await this.#cross(100);
    const probing = this.#probeWhile(() => this.#spentAtMs === undefined || Date.now() < this.#spentAtMs + OVER_MS);
    await this.#burnWhile(async () => {
      if (this.#spentAtMs === undefined && (await this.#used()) >= this.#limit) this.#spentAtMs = Date.now();
      return this.#spentAtMs === undefined || Date.now() < this.#spentAtMs + OVER_MS;
    });
    // All talkers may be over before that was noticed.
    if ((await this.#used()) >= this.#limit) this.#spentAtMs ??= Date.now();
    await probing;
  }

  async #probeWhile(isWanted: () => boolean): Promise<void> {
    const outsider = this.#talkers.find((talker) => !this.#counts(talker));
    for (let n = 0; isWanted(); n += 1) {
      await this.#probe(n % 3 === 2 && outsider !== undefined ? outsider : this.#lead, n);
      await delay(PROBE_EVERY_MS);
    }
  }

  /** Tries a create for the talker's user at one of the nodes. @returns the status */
  async #probe({ page, place }: Talker, node: number): Promise<number | undefined> {
    const other = page.at(() => originOf(this.#parts, node));
    const askedAtMs = Date.now();
    const { widgetKey, agentId, keyId } = place;
    const reply = await other.tryCreate({ widgetKey, agentId }).catch(() => undefined);
    if (reply === undefined) return undefined;
    const { status, body } = reply;
    const answeredAtMs = Date.now();
    const refusing = (body as { readonly budget?: { readonly id: string } }).budget?.id;
    const counts = this.#counts({ place: { ...place, keyId }, sessionId: page.sessionId });
    this.#probes.push({ askedAtMs, answeredAtMs, status, isRefused: refusing === this.#id, counts });
    if (status === 200) await other.end().catch(() => undefined);
    return status;
  }

  async #isAllEnded(): Promise<boolean> {
    if (this.#kind.then !== 'end') return true;
    const { looks } = this.#parts;
    for (const { scope, talkers } of this.#accounts().values()) {
      if ((await looks.used(scope, this.#kind.measure)) < this.#limit) continue;
      const sessions = await looks.sessions(talkers.map(({ sessionId }) => sessionId));
      if (sessions.some(({ endReason }) => endReason === null)) return false;
    }
    return true;
  }

  /** Doubles the budget and waits until creates are admitted again. */
  async #raise(): Promise<void> {
    this.#raised = await this.#set(this.#limit * 2, 1);
    let node = 0;
    await this.#until(async () => (await this.#probe(this.#lead, (node += 1))) === 200, REOPENED_WITHIN_MS);
    await this.#until(
      async () => (await this.#facts()).some(({ code }) => code === 'budget.raised'),
      REOPENED_WITHIN_MS,
    );
  }

  /** Opens one more session, and lowers the budget below what is used, to what it was: that ends the session, if the budget ends sessions. */
  async #lower(): Promise<void> {
    const { page, place } = this.#lead;
    const another = page.at(() => originOf(this.#parts, 0));
    const { widgetKey, agentId } = place;
    const reply = await another.tryCreate({ widgetKey, agentId }).catch(() => undefined);
    if (reply?.status === 200) this.#another = another;
    const lowered = (this.#lowered = await this.#set(this.#limit, 2));
    if (this.#kind.period === 'session') return;
    const isTold = async (): Promise<boolean> =>
      this.#isTold(
        (await this.#facts()).filter(({ atMs }) => atMs >= lowered.askedAtMs),
        100,
      );
    await this.#until(isTold, REOPENED_WITHIN_MS);
    if (this.#kind.then === 'tell') return;
    let node = 0;
    await this.#until(async () => (await this.#probe(this.#lead, (node += 1))) === 429, REOPENED_WITHIN_MS);
    if (this.#kind.then === 'end') await this.#until(() => this.#isAnotherOver(), REOPENED_WITHIN_MS);
  }

  async #isAnotherOver(): Promise<boolean> {
    const sessions = await this.#parts.looks.sessions(this.#another === undefined ? [] : [this.#another.sessionId]);
    return sessions.every(({ endReason }) => endReason !== null);
  }

  /** Gives a version of the budget another amount. @returns when that was asked for and answered */
  async #set(amount: number, version: number): Promise<Change> {
    const askedAtMs = Date.now();
    await this.#ask((backend) => backend.patch(this.#path, { version, ...this.#amount(amount) }));
    return { askedAtMs, answeredAtMs: Date.now() };
  }

  get #path(): string {
    const query = new URLSearchParams(this.#tenant() as Record<string, string>);
    return `/api/operator/budgets/${this.#id}?${query.toString()}`;
  }

  /** Retries a request; a CONFLICT means that an earlier try has succeeded. */
  async #ask(send: (backend: Client) => ReturnType<Client['get']>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const reply = await send(this.#parts.world.backend(() => originOf(this.#parts, tries))).catch(() => undefined);
      if (reply !== undefined && (reply.status < 300 || [404, 409].includes(reply.status))) return;
      if (reply !== undefined && reply.status < 500) throw new Error(`${this.name}: ${reply.text}`);
      await delay(AGAIN_MS);
    }
  }

  async #until(isSo: () => Promise<boolean>, withinMs: number): Promise<void> {
    for (const endMs = Date.now() + withinMs; !(await isSo()) && Date.now() < endMs;)
      await delay(this.#parts.looks.everyMs * 3);
  }
}
