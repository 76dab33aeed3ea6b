// What the table compares: how each server is started, and which requests it gets.
import path from 'node:path';
import { firstMatch, spawnNode, stopChild } from '../support/measure.mjs';
import { logIn, startSwitchboard } from '../switchboard.mjs';
import { headerSets, heartbeatRequest, heartbeatsOf } from './requests.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const origin = 'http://localhost:3000';
const sampleSession = `s:${'0123456789abcdef'.repeat(2)}:AAAAAAAAAAAAAAAAAAAAAA`;

/** A server whose script prints its address; its heartbeats are for one session that is known in advance. */
function simple(script) {
  return async ({ headers = 'minimal' } = {}) => {
    const child = spawnNode(0, [`${import.meta.dirname}/servers/${script}`, sampleSession]);
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
    return {
      port: Number(port),
      pid: child.pid,
      requests: [heartbeatRequest(port, sampleSession, origin, headerSets[headers])],
      stop: () => stopChild(child),
    };
  };
}

/** The product itself, as built. @param cookieOf takes the port and returns the cookie that requests carry */
async function switchboard({ headers, environment, dist, cookieOf }) {
  const server = await startSwitchboard({ RATE_USER_PER_MIN: '1000000000', ...environment }, { dist });
  try {
    const lines = [...headerSets[headers]];
    if (cookieOf !== undefined) lines.push(`Cookie: ${await cookieOf(server.port)}`);
    return { ...server, requests: await heartbeatsOf(server, lines) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * By name, in the order of the table; the first is the yardstick. Each is started with a set of `headers`, and the product also with an
 * `environment`. A candidate whose file `needs` is missing is left out.
 */
export const candidates = {
  bare: { label: 'bare uWebSockets.js', start: simple('bare.mjs') },
  same: { label: 'bare, same reply', start: simple('same-reply.mjs') },
  fastify: { label: 'Fastify, empty handler', start: simple('fastify.mjs') },
  logic: { label: 'Fastify, same logic', start: simple('fastify-logic.mjs') },
  transport: {
    label: 'our transport, bare handler',
    start: simple('transport.mjs'),
    needs: `${root}/src/transport/server.ts`,
  },
  switchboard: {
    label: 'Switchboard, whole heartbeat',
    start: (how) => switchboard(how),
    needs: `${root}/dist/main.js`,
  },
  other: {
    label: 'Switchboard, other build',
    start: (how, dist) => switchboard({ ...how, dist }),
    ofOther: true,
  },
  'foreign-cookie': {
    label: "Switchboard, another site's cookie of the same length",
    start: (how) => switchboard({ ...how, cookieOf: foreignCookie }),
  },
  cookie: {
    label: 'Switchboard, the console cookie of a login',
    start: (how) => switchboard({ ...how, cookieOf: logIn }),
  },
};

/** The candidates that are measured unless `--only` names others. */
export const usual = Object.keys(candidates).filter((name) => !name.endsWith('cookie'));

/** A cookie of the same length as a login's, to tell what its bytes cost from what the login costs. */
async function foreignCookie(port) {
  return `another=${'x'.repeat((await logIn(port)).length - 8)}`;
}
