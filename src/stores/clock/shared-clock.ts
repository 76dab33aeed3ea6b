import { systemClock, type Clock, type ClockStep, MINUTE_MS } from '../../kernel/time.ts';
import { ElapsedTime, MAX_SLEW, SlewedTime } from './node-time.ts';
import { Unavailable } from '../../kernel/errors.ts';
import { every } from '../../kernel/async.ts';
import type { ClockAgreement, ClockAgreements, ClockLeads } from './contract.ts';
import { STEP_MS, StoreTime, type Reading } from './store-time.ts';

export interface SharedClockDeps {
  /** Time of the live stores, in milliseconds since the Unix epoch; for a process alone that of its machine. */
  readonly readStoreTimeMs: () => Promise<number>;
  /** What nodes agree on, with the database's time, which is the second witness. Without it, no step is believed. */
  readonly agreements?: ClockAgreements;
  /** Used if no store tells the time at the start. */
  readonly local?: Clock;
  readonly elapsed?: ElapsedTime;
  readonly onStep?: (step: ClockStep) => void;
  /** Gets the errors of `agreements` other than outages. */
  readonly onError?: (error: unknown) => void;
}

export interface SharedClock extends Clock {
  /** Finds the time, then checks it regularly; resolves even when the stores are away. */
  start(): Promise<void>;
  /** Asks the stores now. @throws what reading the live store's time throws */
  sync(): Promise<void>;
  /** How far this time is ahead of the live store's own clock because that clock was set, in milliseconds. */
  readonly leadMs: number;
  stop(): Promise<void>;
}

const LOOK_MS = 1000;
/** How often the stores are asked. */
const SYNC_MS = 5000;
/** Long enough for every other node to have confirmed the leads. */
const DOUBT_MS = 2 * SYNC_MS + 1000;
/** If no node confirmed the leads for this long, none is running, and they no longer count. */
const FORGOTTEN_MS = MINUTE_MS;
/** The database's lead is noted anew once it is off by more than this: clocks drift apart. */
const DRIFT_MS = 50;
/** Leads shrink by this fraction of the time that passes, so that nodes return to the store's time. */
const SHRINK = MAX_SLEW / 2;

/** The live store's lead at a time that nodes agree on. */
function leadAt({ registryMs, sinceMs }: ClockLeads, atMs: number): number {
  const left = Math.abs(registryMs) - SHRINK * Math.max(0, atMs - sinceMs);
  return left <= 0 ? 0 : Math.sign(registryMs) * left;
}

/**
 * A clock that all nodes share. It advances by the time that passes on this node, which nobody can set, and is steered towards the live store's time
 * plus its lead, never faster than `MAX_SLEW`. So nodes whose clocks differ by minutes agree within half a round trip, and measured durations stay
 * right. When a store's clock steps, this clock does not follow: the store's lead takes up the step, and every node learns the lead from the
 * database. Only a node that itself stood still is set, once another node confirms the leads (docs/architecture.md, section 4).
 */
export function createSharedClock(deps: SharedClockDeps): SharedClock {
  const { readStoreTimeMs, agreements, local = systemClock, elapsed = new ElapsedTime(), onStep, onError } = deps;
  const time = new SlewedTime(local.now(), () => elapsed.now());
  const registry = new StoreTime();
  const database = new StoreTime();
  let leads: ClockLeads | undefined;
  let version = 0;
  let isSet = false;
  let syncedAtMs = -Infinity;
  /** Set while both stores' clocks have advanced differently from the time here. */
  let doubt: { readonly sinceMs: number; readonly vouched: number } | undefined;
  let stopRepeating: (() => Promise<void>) | undefined;

  /** How far this time is ahead of the elapsed time. */
  const baseMs = (): number => time.now() - elapsed.now();
  const registryLeadMs = (): number => (leads === undefined ? 0 : leadAt(leads, time.now()));

  async function read<T>(ask: () => Promise<T>, timeOf: (told: T) => number): Promise<Reading<T>> {
    const sentAt = elapsed.now();
    const told = await ask();
    const roundTripMs = elapsed.now() - sentAt;
    return { told, offsetMs: timeOf(told) + roundTripMs / 2 - elapsed.now(), roundTripMs };
  }

  const readRegistry = () => read(readStoreTimeMs, (ms) => ms);

  function tellUnlessAway(fault: unknown): void {
    if (!(fault instanceof Unavailable)) onError?.(fault);
  }

  async function sync(): Promise<void> {
    noticeSleep();
    syncedAtMs = elapsed.now();
    const [ofRegistry, ofDatabase] = await Promise.allSettled([
      readRegistry(),
      agreements &&
        read(
          () => agreements.read(),
          ({ databaseMs }) => databaseMs,
        ),
    ]);
    if (ofDatabase.status === 'rejected') tellUnlessAway(ofDatabase.reason);
    await judge(valueOf(ofRegistry), valueOf(ofDatabase));
    if (ofRegistry.status === 'rejected') throw ofRegistry.reason;
  }

  async function judge(
    ofRegistry: Reading | undefined,
    ofDatabase: Reading<ClockAgreement> | undefined,
  ): Promise<void> {
    if (ofDatabase !== undefined) learn(ofDatabase.told);
    if (!isSet) begin(ofRegistry, ofDatabase);
    if (leads === undefined) return agree(ofRegistry, ofDatabase);
    const errorMs = ofRegistry && ofRegistry.offsetMs + registryLeadMs() - baseMs();
    const otherErrorMs = ofDatabase && ofDatabase.offsetMs + leads.databaseMs - baseMs();
    const isMoved = ofRegistry !== undefined && registry.isMovedBy(ofRegistry) && isStep(errorMs);
    const isOtherMoved = ofDatabase !== undefined && database.isMovedBy(ofDatabase) && isStep(otherErrorMs);
    if (isMoved && isOtherMoved) return resolve(ofRegistry, ofDatabase);
    doubt = undefined;
    time.coast();
    // One witness alone does not tell whether its clock was set or this node stood still.
    if (isMoved && agreements !== undefined && ofDatabase === undefined) return;
    if (isOtherMoved && ofRegistry === undefined) return;
    if (isMoved) {
      await note({ ...leads, registryMs: baseMs() - ofRegistry.offsetMs, sinceMs: time.now() }, () => {
        registry.believe(ofRegistry);
        onStep?.({ of: 'registry', ms: errorMs ?? 0 });
      });
    } else if (ofRegistry !== undefined) follow(ofRegistry);
    else if (otherErrorMs !== undefined) time.steer(otherErrorMs, SYNC_MS);
    if (ofDatabase !== undefined && !isMoved) await bearWitness(ofDatabase, isOtherMoved ? otherErrorMs : undefined);
  }

  function learn(agreement: ClockAgreement): void {
    version = agreement.version;
    if (agreement.vouchedAgoMs < FORGOTTEN_MS) leads = agreement.leads ?? leads;
  }

  /** Sets the time from the first readings. */
  function begin(ofRegistry: Reading | undefined, ofDatabase: Reading<ClockAgreement> | undefined): void {
    const foundMs = ofRegistry && elapsed.now() + registry.believe(ofRegistry);
    const otherMs = ofDatabase && elapsed.now() + ofDatabase.offsetMs + (leads?.databaseMs ?? 0);
    if (foundMs !== undefined) time.set(foundMs + (leads === undefined ? 0 : leadAt(leads, foundMs)));
    else if (otherMs !== undefined) time.set(otherMs);
    isSet = (foundMs ?? otherMs) !== undefined;
  }

  /** Notes the first leads: this node's time becomes the one that others find. */
  async function agree(
    ofRegistry: Reading | undefined,
    ofDatabase: Reading<ClockAgreement> | undefined,
  ): Promise<void> {
    if (ofRegistry === undefined || (agreements !== undefined && ofDatabase === undefined)) return;
    const registryMs = baseMs() - registry.believe(ofRegistry);
    const databaseMs = ofDatabase === undefined ? 0 : baseMs() - database.believe(ofDatabase);
    await note({ registryMs, sinceMs: time.now(), databaseMs });
  }

  /** Notes leads for all nodes. If another node was first, or the database is away, the next look finds out. */
  async function note(next: ClockLeads, onNoted?: () => void): Promise<void> {
    const isNoted = agreements === undefined || (await agreements.note(next, version).catch(tellUnlessAway));
    if (isNoted !== true) return;
    leads = next;
    version += 1;
    onNoted?.();
  }

  /** The leads hold, or another node noted new ones: the store's time counts. */
  function follow(ofRegistry: Reading): void {
    const errorMs = registry.believe(ofRegistry) + registryLeadMs() - baseMs();
    if (isStep(errorMs)) set(errorMs);
    else time.steer(errorMs, SYNC_MS);
  }

  function set(byMs: number): void {
    time.set(time.now() + byMs);
    onStep?.({ of: 'node', ms: byMs });
  }

  /** Confirms the leads to the other nodes, and notes how far the database's clock is off. @param steppedMs undefined if it did not step */
  async function bearWitness(ofDatabase: Reading<ClockAgreement>, steppedMs: number | undefined): Promise<void> {
    const databaseMs = baseMs() - database.believe(ofDatabase);
    if (leads === undefined || agreements === undefined) return;
    const isOff = Math.abs(databaseMs - leads.databaseMs) > DRIFT_MS;
    if (isOff || ofDatabase.told.vouchedAgoMs >= FORGOTTEN_MS) await note({ ...leads, databaseMs });
    else await agreements.vouch().catch(tellUnlessAway);
    if (steppedMs !== undefined) onStep?.({ of: 'database', ms: steppedMs });
  }

  /**
   * Both stores contradict this node: it stood still, or both were set. If another node confirms the leads, it stood still; if none does within
   * `DOUBT_MS`, both stores count as set.
   */
  async function resolve(ofRegistry: Reading, ofDatabase: Reading<ClockAgreement>): Promise<void> {
    time.coast();
    doubt ??= { sinceMs: elapsed.now(), vouched: ofDatabase.told.vouched };
    if (ofDatabase.told.vouched > doubt.vouched) {
      doubt = undefined;
      database.believe(ofDatabase);
      follow(ofRegistry);
    } else if (elapsed.now() - doubt.sinceMs >= DOUBT_MS) {
      const next = {
        registryMs: baseMs() - ofRegistry.offsetMs,
        sinceMs: time.now(),
        databaseMs: baseMs() - ofDatabase.offsetMs,
      };
      const steppedMs = registryLeadMs() - next.registryMs;
      await note(next, () => {
        doubt = undefined;
        registry.believe(ofRegistry);
        database.believe(ofDatabase);
        onStep?.({ of: 'registry', ms: steppedMs });
      });
    }
  }

  function noticeSleep(): boolean {
    const sleptMs = elapsed.look();
    if (sleptMs > 0) onStep?.({ of: 'node', ms: sleptMs });
    return sleptMs > 0;
  }

  /** Checks whether this machine slept, and asks the stores if that is due. */
  async function look(): Promise<void> {
    const isUnsure = noticeSleep() || doubt !== undefined || leads === undefined;
    if (isUnsure || elapsed.now() - syncedAtMs >= SYNC_MS) await sync();
  }

  return {
    now: () => time.now(),
    sync,

    get leadMs() {
      return registryLeadMs();
    },

    async start() {
      // The first reading waits for a connection, and would be far off.
      for (let read = 0; read < 3; read += 1)
        await readRegistry().then(
          (ofRegistry) => registry.believe(ofRegistry),
          () => undefined,
        );
      await sync().catch(() => undefined);
      stopRepeating = every(LOOK_MS, look, () => undefined);
    },

    async stop() {
      await stopRepeating?.();
    },
  };
}

function valueOf<T>(settled: PromiseSettledResult<T>): T | undefined {
  return settled.status === 'fulfilled' ? settled.value : undefined;
}

function isStep(ms = 0): boolean {
  return Math.abs(ms) > STEP_MS;
}
