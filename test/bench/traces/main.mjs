// What traces cost: when a session is created and ended, and when its spans are built from what was kept and sent.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { spread } from '../support/rounds.mjs';
import { costNote, sessionCosts, startService } from '../support/session-costs.mjs';
import { withParts } from '../support/started.mjs';
import { createSessions, endSessions } from '../switchboard.mjs';

export const usage = `Options:
  --rounds <n>    interleaved rounds; medians are printed (5)
  --creates <n>   sessions that a round creates and ends on each server (500)
  --other <path>  another build's directory, such as one without traces, measured as well`;

export const defaults = { rounds: 5, creates: 500, other: '' };

export const brief = ['--rounds', '3', '--creates', '200'];

/** Spans are made ten seconds after a session's end; any that are not sent by then are considered lost. */
const SENT_WITHIN_MS = 120_000;

/** Sets a failing exit code when the spans of a session are not sent. */
export function run(options) {
  return withParts(async (start) => {
    const { rounds, creates, other } = options;
    const collector = await start(startCollector());
    const add = async (label, environment, dist) => ({ label, ...(await start(startService(environment, dist))) });
    const silent = await add('no collector');
    const traced = await add('a collector', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const others = other === '' ? [] : [await add('other build', {}, other)];
    let created = 0;
    const sent = async (count) => {
      created += count;
      const endMs = Date.now() + SENT_WITHIN_MS;
      while (collector.sessions() < created && Date.now() < endMs) await delay(50);
      if (collector.sessions() >= created) return;
      console.error(`the spans of ${created - collector.sessions()} of ${created} sessions were not sent`);
      process.exitCode = 1;
    };
    const rows = await sessionCosts([silent, traced, ...others], rounds, creates, async ({ label }) => {
      if (label === traced.label) await sent(creates);
    });
    const making = await costOfSpans(traced, options, sent);
    return [
      {
        title: 'A session created and ended',
        goal: 'without a collector at most 0.2 % more CPU than without traces (--other), with one at most 3 % more than without',
        rows,
        notes: [costNote(rounds, creates), 'Spans are made later; see below.'],
      },
      {
        title: 'The spans of a session, made and sent',
        goal: 'none: no request waits for it',
        rows: [making],
        notes: [
          `Measured once the ${creates} sessions of a round have ended; what an idle service uses is subtracted.`,
        ],
      },
    ];
  });
}

async function costOfSpans({ port, cost }, { rounds, creates }, sent) {
  const results = [];
  const cpu = ({ server, database }) => (server + database) * 1e6;
  for (let round = 0; round < rounds; round += 1) {
    const restAtMs = Date.now();
    const rest = await cost();
    await delay(3000);
    const before = await cost();
    const idleUsPerMs = (cpu(before) - cpu(rest)) / (Date.now() - restAtMs);
    await endSessions(port, await createSessions(port, creates));
    const fromMs = Date.now();
    const ended = await cost();
    await sent(creates);
    results.push((cpu(await cost()) - cpu(ended) - idleUsPerMs * (Date.now() - fromMs)) / creates);
  }
  return { what: 'spans of a session', 'CPU us': spread(results, 0) };
}

/** Takes every batch, and counts the traces in it by their root span. */
async function startCollector() {
  let sessions = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.once('end', () => {
      sessions += body.split('"name":"voice_session"').length - 1;
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sessions: () => sessions,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
