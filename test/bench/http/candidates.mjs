// What the table compares: how each server starts, and the bytes that it is asked with.
import path from 'node:path';
import { firstMatch, spawnNode, stopChild } from '../support/measure.mjs';
import { createSessions, startSwitchboard } from '../switchboard.mjs';
import { startRedis } from '../support/redis.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const origin = 'http://localhost:3000';
const sampleSession = `s:${'0123456789abcdef'.repeat(2)}:AAAAAAAAAAAAAAAAAAAAAA`;

const browserHeaders = [
  'Connection: keep-alive',
  'sec-ch-ua-platform: "Linux"',
  'User-Agent: Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  'sec-ch-ua: "Chromium";v="130", "Not?A_Brand";v="99"',
  'sec-ch-ua-mobile: ?0',
  'Accept: */*',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Mode: cors',
  'Sec-Fetch-Dest: empty',
  'Referer: http://localhost:3000/',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: en-GB,en;q=0.9',
];

/** The whole heartbeat request as bytes in latin1. */
function heartbeatRequest(port, session, from, headerSet) {
  const body = JSON.stringify({ sm_session_id: session });
  const lines = [
    'POST /api/realtime/heartbeat HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Origin: ${from}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...(headerSet === 'browser' ? browserHeaders : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A server whose script prints its address and beats for one session known beforehand. */
function simple(script) {
  return async (headerSet) => {
    const child = spawnNode(0, [`${import.meta.dirname}/servers/${script}`, sampleSession]);
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
    return {
      port: Number(port),
      pid: child.pid,
      requests: [heartbeatRequest(port, sampleSession, origin, headerSet)],
      stop: () => stopChild(child),
    };
  };
}

/** As many as the connections of a usual run: with shared stores, beats of one session would only wait for each other. */
const SESSIONS = 64;

/** The product itself, as built. */
async function switchboard(headerSet, environment = {}, more = {}) {
  const server = await startSwitchboard(environment, more);
  try {
    const { port } = server;
    const sessions = await createSessions(port, SESSIONS);
    const requests = sessions.map((id) => heartbeatRequest(port, id, `http://localhost:${port}`, headerSet));
    return { ...server, requests };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The product with its live registry in a Redis of its own, on the load generator's core. */
async function switchboardOnRedis(headerSet) {
  const redis = await startRedis();
  try {
    const server = await switchboard(headerSet, { REDIS_URL: redis.url });
    return {
      ...server,
      cost: redis.cost,
      async stop() {
        await server.stop();
        await redis.stop();
      },
    };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

/** By name, in the order of the table; the first is the yardstick. `needs` is a file without which one is left out. */
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
    start: (headerSet) => switchboard(headerSet),
    needs: `${root}/dist/main.js`,
  },
  other: { label: 'Switchboard, other build', start: (headerSet, dist) => switchboard(headerSet, {}, { dist }) },
  redis: { label: 'Switchboard with Redis', start: switchboardOnRedis, needs: `${root}/dist/main.js` },
};
