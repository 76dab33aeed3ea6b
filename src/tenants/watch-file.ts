import { stat } from 'node:fs/promises';
import { Unavailable } from '../kernel/errors.ts';
import type { Clock } from '../kernel/time.ts';
import type { Bus } from '../stores/bus/contract.ts';
import type { Tenant, Tenants } from '../stores/tenants/contract.ts';
import { asFileError, readTenantsDocument } from './tenants-file.ts';

export interface MergeDeps {
  /** The path of TENANTS_FILE. */
  readonly file: string;
  readonly tenants: Pick<Tenants, 'merge'>;
  /** The calendar day of an instant. */
  readonly dayOf: (atMs: number) => string;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  /** Changes what was read before it is merged: the demo's keys (demo.ts). */
  readonly adapt?: (tenants: Tenant[]) => Tenant[];
}

export interface WatchDeps extends MergeDeps {
  /** The file was changed and cannot be used, or the database is away. Called once for each problem; the present tenants stay in force. */
  readonly onProblem: (error: unknown) => void;
  /** Milliseconds between two looks at the file; half of the promised second. */
  readonly pollMs?: number;
}

/**
 * Merges the tenants file into the database and tells every node. What the file no longer names stays in the database: a file that was cut short by
 * mistake must not cut customers off. Keys are withdrawn with `revoked: true`.
 * @throws TenantsFileError when the file cannot be used, with what to do; at start that is exit code 78
 * @throws Unavailable when the database is away
 */
export async function mergeTenantsFile(deps: MergeDeps): Promise<void> {
  const atMs = deps.clock.now();
  const { tenants: read, budgets } = await readTenantsDocument(deps.file, atMs);
  const tenants = deps.adapt ? deps.adapt(read) : read;
  const tenantIds = [null, ...read.map(({ id }) => id)];
  await deps.tenants
    .merge(tenants, { budgets: { budgets, tenantIds, day: deps.dayOf(atMs) } })
    .catch((error: unknown) => {
      throw asFileError(error, deps.file);
    });
  deps.bus.publish({ type: 'tenants.changed' });
}

/**
 * Merges the tenants file at start and within a second of every change. It polls the file instead of using fs.watch, which loses the file when an
 * editor replaces it or Kubernetes swaps the symbolic link above it, and is silent on network file systems.
 */
export class TenantsFileWatch {
  readonly #deps: WatchDeps;
  /** The version of the file that needs no further work: it was merged, or was reported as broken. */
  #settled = '';
  /** A version that could not be used at the last look. It may be half-written, so it is reported only if it is still there at the next. */
  #doubtful = '';
  #isAway = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /**
   * Merges the file and starts to watch it.
   * @throws TenantsFileError, Unavailable as mergeTenantsFile does; then nothing runs
   */
  async start(): Promise<void> {
    // The version is read before the content: the next look sees a change in between.
    this.#settled = await version(this.#deps.file);
    await mergeTenantsFile(this.#deps);
    this.#schedule();
  }

  /** Resolves when no merge is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#look()
        .catch((error: unknown) => this.#deps.onProblem(error))
        .then(() => this.#schedule());
    }, this.#deps.pollMs ?? 500).unref();
  }

  async #look(): Promise<void> {
    const seen = await version(this.#deps.file);
    if (seen === this.#settled) return;
    try {
      await mergeTenantsFile(this.#deps);
      this.#settled = seen;
      this.#isAway = false;
    } catch (error) {
      if (error instanceof Unavailable) return this.#wait(error);
      if (seen === this.#doubtful) this.#settle(seen, error);
      this.#doubtful = seen;
    }
  }

  /** The database is away: the change is merged once it is back. */
  #wait(error: Unavailable): void {
    if (!this.#isAway) this.#deps.onProblem(error);
    this.#isAway = true;
  }

  #settle(seen: string, error: unknown): void {
    this.#settled = seen;
    this.#deps.onProblem(error);
  }
}

/** Differs whenever the file was written, replaced, removed or relinked. */
async function version(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return 'unreadable';
  }
}
