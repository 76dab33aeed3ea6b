import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { RedisClient } from '@redis/client';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { RedisService } from '../support/services/redis.ts';

/** The error that some work threw, if it did. */
export function faultOf(work: () => Promise<unknown>): Promise<unknown> {
  return work().then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Retries until the work succeeds. Any error other than `Unavailable` is thrown. */
export async function recoveryOf(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const fault = await faultOf(work);
    if (fault === undefined) return;
    if (!(fault instanceof Unavailable)) throw fault;
    await pause(20);
  }
}

export interface Proxy {
  readonly url: string;
  /** Delay of every byte, in both directions. */
  delayMs: number;
  /** Cuts every connection at once. */
  cut(): void;
  close(): Promise<void>;
}

/** A proxy in front of a server that can be slow or cut connections. */
export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const proxy = { delayMs: 0 };
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void pause(proxy.delayMs).then(() => to.destroyed || to.write(bytes)));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

const createClient = RedisClient.factory();

/** An operator's connection to each server. */
export function operatorsOf(service: RedisService) {
  return Promise.all(
    service.urls.map((url) => {
      const client = createClient({ url });
      client.on('error', () => undefined);
      return client.connect();
    }),
  );
}

/** Runs an operator's command on every server; @returns the answers. */
export async function atEach(service: RedisService, command: readonly string[]): Promise<unknown[]> {
  const operators = await operatorsOf(service);
  const answers: unknown[] = [];
  for (const client of operators) {
    answers.push(await client.sendCommand(command));
    client.destroy();
  }
  return answers;
}
