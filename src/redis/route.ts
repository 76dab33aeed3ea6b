import { ServerLink } from './server-link.ts';
import { ErrorReply } from '@redis/client';
import type { Unavailable } from '../kernel/errors.ts';
import { unavailable, saysError } from './faults.ts';
import { allTags, slotOfTag } from './tags.ts';

/** Which server serves which tag. */
export interface Route {
  /** Tags of one group may share a script call. */
  groupOf(tag: number): number;
  /**
   * Sends a command to the server of a tag and follows redirections.
   * @param deadlineAt on `performance.now()`'s scale.
   * @throws Unavailable, or ErrorReply when the server refuses this particular command
   */
  send(tag: number, args: readonly string[], deadlineAt: number): Promise<unknown>;
  /** One tag of each server. @throws Unavailable when some tag has no server */
  tagOfEach(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** One server (or what acts as one: a primary with replicas behind a name) serves all tags, so that a tick is one script call. */
export function createSingleRoute(url: string, deadlineMs: number, onLost: () => void): Route {
  const link = new ServerLink([url], deadlineMs, { onLost });
  return {
    groupOf: () => 0,
    send: (_tag, args, deadlineAt) => link.send(args, deadlineAt),
    tagOfEach: () => Promise.resolve([0]),
    close: () => link.close(),
  };
}

/** While something is wrong, the least time between two requests for the map. */
const REFRESH_MS = 200;
/** The part of a call's deadline that reading the map may take. */
const MAP_SHARE = 0.85;

/**
 * Redis Cluster: a map from tags to masters, and one link for each master; the map is read again when a server redirects or is lost. A master that
 * hangs delays only its own tags; with node-redis's cluster it delays all (docs/decisions/0010-our-own-links-to-redis.md).
 */
export function createClusterRoute(seeds: readonly string[], deadlineMs: number, onLost: () => void): Route {
  const links = new Map<string, ServerLink>();
  let owners: readonly string[] = [];
  let refreshing: Promise<void> | undefined;
  let readAt = -Infinity;
  let isClosed = false;

  function linkTo(address: string): ServerLink {
    if (isClosed) throw unavailable('closed');
    const present = links.get(address);
    if (present !== undefined) return present;
    const link = new ServerLink([urlOf(address, seeds)], deadlineMs, { onLost });
    links.set(address, link);
    return link;
  }

  /** Asks all known servers at once and believes the first answer, so that a server that hangs delays nobody. */
  async function readMap(): Promise<void> {
    readAt = performance.now();
    const known = new Set([...seeds.map(addressOf), ...owners]);
    const answers = [...known].map(async (address) => {
      const reply = await linkTo(address).send(['CLUSTER', 'SLOTS'], performance.now() + deadlineMs * MAP_SHARE);
      return ownersOf(reply, address);
    });
    owners = await Promise.any(answers).catch(() => {
      throw unavailable('no server of the cluster tells its map');
    });
    await closeOthers(new Set([...owners, ...seeds.map(addressOf)]));
  }

  /** Closes the links to servers that left the cluster. */
  async function closeOthers(inUse: ReadonlySet<string>): Promise<void> {
    const left = [...links].filter(([address]) => !inUse.has(address));
    for (const [address] of left) links.delete(address);
    await Promise.all(left.map(([, link]) => link.close()));
  }

  function refresh(): Promise<void> {
    refreshing ??= readMap().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  /** Reads the map in the background, unless it was read just now. */
  function doubt(): void {
    if (performance.now() - readAt > REFRESH_MS) refresh().catch(() => undefined);
  }

  async function ownerOf(tag: number): Promise<ServerLink> {
    if (owners.length === 0) await refresh();
    const owner = owners[tag];
    if (owner === undefined || owner === '') {
      doubt();
      throw nobodyServes();
    }
    return linkTo(owner);
  }

  async function redirected(
    tag: number,
    error: ErrorReply,
    args: readonly string[],
    deadlineAt: number,
  ): Promise<unknown> {
    if (saysError(error, 'ASK ')) return linkTo(error.message.split(' ')[2] ?? '').send(args, deadlineAt, true);
    await refresh();
    return (await ownerOf(tag)).send(args, deadlineAt);
  }

  return {
    groupOf: (tag) => tag,

    async send(tag, args, deadlineAt) {
      try {
        return await (await ownerOf(tag)).send(args, deadlineAt);
      } catch (error) {
        if (saysError(error, 'MOVED ') || saysError(error, 'ASK ')) return redirected(tag, error, args, deadlineAt);
        if (!(error instanceof ErrorReply) || saysError(error, 'CLUSTERDOWN') || saysError(error, 'READONLY')) doubt();
        throw error;
      }
    },

    async tagOfEach() {
      if (owners.length === 0) await refresh();
      if (owners.includes('')) {
        doubt();
        throw nobodyServes();
      }
      return [...new Set(owners)].map((owner) => owners.indexOf(owner));
    },

    async close() {
      isClosed = true;
      await Promise.all([...links.values()].map((link) => link.close()));
    },
  };
}

function nobodyServes(): Unavailable {
  return unavailable('nobody serves this part of the cluster');
}

/** The master of each tag; empty if nobody serves it. CLUSTER SLOTS answers [first slot, last slot, [host, port, …], …replicas] for each range. */
function ownersOf(reply: unknown, asked: string): readonly string[] {
  const ranges = reply as readonly (readonly [number, number, readonly [string | null, number]])[];
  return allTags.map((tag) => {
    const slot = slotOfTag(tag);
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    // A server that does not know its own address leaves it out: it is the one that was asked.
    return range === undefined ? '' : `${range[2][0] || hostOf(asked)}:${range[2][1]}`;
  });
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}

function addressOf(seed: string): string {
  const { hostname, port } = new URL(seed);
  return `${hostname.replace(/^\[(.*)\]$/, '$1')}:${port === '' ? '6379' : port}`;
}

/** The URL of a server that the map names: with the scheme and the credentials of the first server in the settings. */
function urlOf(address: string, seeds: readonly string[]): string {
  const url = new URL(seeds[0] ?? '');
  const host = hostOf(address);
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.port = address.slice(address.lastIndexOf(':') + 1);
  return url.href;
}
