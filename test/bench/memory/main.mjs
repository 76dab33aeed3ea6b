// Goal P4: what a held session costs (socket, record, indexes) beyond the memory of the process without it, against sockets of bare servers.
import { once } from 'node:events';
import { startPostgres } from '../support/postgres.mjs';
import { firstMatch, spawnNode, stopChild } from '../support/measure.mjs';
import { memoryFlags, settledMemory } from '../support/memory.mjs';
import { checkOpenFiles } from '../support/open-files.mjs';
import { withParts } from '../support/started.mjs';
import { createSessions, startSwitchboard } from '../switchboard.mjs';

export const usage = `Options:
  --sockets <n>  sockets, each with a session of its own (10000)
  --first <n>    extra sockets before them that do not count: they load and compile what all need (1000)
  --named        each session for a user of its own, named by address, instead of one subject for all
  --other <path> another build's directory, measured as well`;

export const defaults = { sockets: 10_000, first: 1000, named: false, other: '' };

export const brief = [];

const BARE = new URL('../socket/servers/bare.mjs', import.meta.url).pathname;
const WS = new URL('../socket/servers/ws.mjs', import.meta.url).pathname;

export async function run(options) {
  checkOpenFiles(options.sockets + options.first);
  const rows = [
    await bare('bare uWebSockets.js sockets', [BARE, 'answer'], options),
    await bare('bare ws sockets', [WS], options),
    ...(await product('Switchboard', undefined, options)),
    ...(options.other === '' ? [] : await product('other build', options.other, options)),
  ];
  return [
    {
      title: `Memory per held socket and session, of ${options.sockets}`,
      goal: 'P4: a session with its socket at most 3.2 kB of RSS; bare uWebSockets.js 0.6 kB, bare ws 6.1 kB',
      rows,
      notes: [
        `Compared with the same process with ${options.first} of them, each time after garbage collections, when memory no longer changes. ` +
          `The sessions have ${options.named ? 'a subject each' : 'one subject'}; their history is in PostgreSQL, so that no database grows inside the process.`,
      ],
    },
  ];
}

async function bare(label, script, { sockets, first }) {
  return withParts(async (start) => {
    const child = spawnNode(0, [...memoryFlags, ...script]);
    await start({ stop: () => stopChild(child) });
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
    const crowd = await start(startCrowd(Number(port)));
    await crowd.hold(first);
    const before = await settledMemory(child);
    await crowd.hold(sockets);
    return rowOf(label, before, await settledMemory(child), sockets);
  });
}

/** Two rows: sessions alone, and sessions with their sockets. */
async function product(label, dist, { sockets, first, named }) {
  return withParts(async (start) => {
    const database = await start(startPostgres());
    // A log line for each session would measure the terminal.
    const environment = { DATABASE_URL: database.url, LOG_LEVEL: 'error' };
    const { child, port } = await start(startSwitchboard(environment, { dist, flags: memoryFlags }));
    const crowd = await start(startCrowd(port));
    const create = async (from, count) => {
      const emails = named ? Array.from({ length: count }, (_, n) => `user${from + n}@mail.example`) : [];
      const ids = await createSessions(port, count, emails);
      return ids.map((id, n) => ({ sm_session_id: id, email: emails[n] }));
    };
    await crowd.hold(first, await create(0, first));
    const before = await settledMemory(child);
    const attaches = await create(first, sockets);
    const created = await settledMemory(child);
    await crowd.hold(sockets, attaches);
    const held = await settledMemory(child);
    return [
      rowOf(`${label}, sessions without sockets`, before, created, sockets),
      rowOf(`${label}, sessions with their sockets`, before, held, sockets),
    ];
  });
}

/** A process that holds sockets. */
async function startCrowd(port) {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'];
  const child = spawnNode(1, [`${import.meta.dirname}/hold.mjs`], { stdio });
  const died = once(child, 'exit').then(() => {
    throw new Error('the process that holds the sockets ended');
  });
  died.catch(() => undefined);
  return {
    hold(count, attaches) {
      child.send({ port, count, attaches });
      return Promise.race([once(child, 'message'), died]);
    },
    stop: () => stopChild(child),
  };
}

function rowOf(label, before, after, count) {
  const each = (name) => ((after[name] - before[name]) / count / 1000).toFixed(2);
  return {
    held: label,
    'RSS kB': each('rss'),
    'heap kB': each('heap'),
    'RSS MB before': (before.rss / 1e6).toFixed(1),
    'RSS MB after': (after.rss / 1e6).toFixed(1),
  };
}
