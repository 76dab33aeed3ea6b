import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Sql } from 'postgres';
import type { ClusterNode } from '../../support/cluster.ts';
import type { TestProvider } from '../../support/provider.ts';
import type { PostgresService } from '../../support/services/postgres.ts';
import type { RedisService } from '../../support/services/redis.ts';
import type { TestSmtp } from '../../support/smtp.ts';
import { nodeFaults, type FaultKind, type Step } from './schedule.ts';

const run = promisify(execFile);
const FOREVER = Number.POSITIVE_INFINITY;

/** A fault that happened: from just before it began to just after the part was back. */
export interface Fault {
  readonly kind: FaultKind;
  /** Undefined for a fault of a dependency. */
  readonly node: number | undefined;
  readonly from: number;
  /** Infinity while the fault lasts. */
  to: number;
}

export interface Targets {
  readonly nodes: readonly ClusterNode[];
  readonly redis: RedisService | undefined;
  readonly postgres: PostgresService;
  /** The observer's own connections, which are never cut. */
  readonly sql: Sql;
  readonly provider: TestProvider;
  readonly smtp: TestSmtp;
}

export const OBSERVER_NAME = 'fault-observer';
/** The contract's limit, plus a moment for the machine. */
const STOP_MS = 10_500;

/** Carries out a plan and records what it did. */
export class Faults {
  readonly done: Fault[] = [];
  /** What must not happen during faults, such as a node that fails to drain. */
  readonly violations: string[] = [];
  readonly #targets: Targets;

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  /** Runs two tracks in parallel, for dependencies and for nodes, each with one fault at a time. Resolves when all parts are back. */
  async carryOut(steps: readonly Step[], startedAt: number): Promise<void> {
    const isOfNode = ({ kind }: Step): boolean => (nodeFaults as readonly FaultKind[]).includes(kind);
    await Promise.all([
      this.#carryOut(
        steps.filter((step) => !isOfNode(step)),
        startedAt,
        () => undefined,
      ),
      this.#carryOut(steps.filter(isOfNode), startedAt, ({ node }) => node),
    ]);
  }

  async #carryOut(
    steps: readonly Step[],
    startedAt: number,
    nodeOf: (step: Step) => number | undefined,
  ): Promise<void> {
    for (const step of steps) {
      await delay(Math.max(0, startedAt + step.atMs - Date.now()));
      const fault: Fault = { kind: step.kind, node: nodeOf(step), from: Date.now(), to: FOREVER };
      this.done.push(fault);
      await this.#make(step);
      fault.to = Date.now();
    }
  }

  async #make({ kind, forMs, node: index }: Step): Promise<void> {
    const { redis, postgres, provider, smtp, nodes } = this.#targets;
    const node = nodes[index] as ClusterNode;
    switch (kind) {
      case 'redis.freeze':
        redis?.freeze();
        await delay(forMs);
        return redis?.thaw();
      case 'redis.restart':
        return redis?.restart();
      case 'redis.flush':
        return redis?.flush();
      case 'redis.cut':
        return this.#cut('normal');
      case 'redis.cutBus':
        return this.#cut('pubsub');
      case 'postgres.freeze':
        postgres.freeze();
        await delay(forMs);
        return postgres.thaw();
      case 'postgres.restart':
        return postgres.restart();
      case 'postgres.terminate':
        await this.#targets.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and application_name <> ${OBSERVER_NAME}`;
        return;
      case 'provider.hang':
      case 'provider.break':
        provider.mode = kind === 'provider.hang' ? 'hang' : 'broken';
        await delay(forMs);
        provider.mode = 'ok';
        return;
      case 'mail.freeze':
        smtp.mode = 'freeze greeting';
        await delay(forMs);
        smtp.mode = 'ok';
        return;
      case 'node.kill':
        await node.stop('SIGKILL');
        await delay(forMs);
        return node.start();
      case 'node.freeze':
        node.signal('SIGSTOP');
        await delay(forMs);
        return node.signal('SIGCONT');
      case 'node.stop':
        return this.#restart(node);
    }
  }

  async #restart(node: ClusterNode): Promise<void> {
    const startedAt = Date.now();
    const { code, ms } = await node.stop('SIGTERM');
    // The only excuse is state that cannot be saved because a dependency is away.
    const isExcused = this.done.some(({ node, to }) => node === undefined && to + 3000 > startedAt);
    if (ms > STOP_MS || (code !== 0 && !isExcused))
      this.violations.push(`node ${node.index} was told to stop and ended with ${code} after ${Math.round(ms)} ms`);
    await node.start();
  }

  async #cut(type: 'normal' | 'pubsub'): Promise<void> {
    for (const url of this.#targets.redis?.urls ?? [])
      await run('redis-cli', ['-u', url, 'client', 'kill', 'type', type, 'skipme', 'yes']);
  }
}
