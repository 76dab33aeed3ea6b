// What we add to a server's tool: the time from the end of the response that asks for it to its answer at the provider, minus the tool's own.
import { createSession, inTurns, KEYS, offerSdp, openCall, startNode, startStandIn } from '../calls/parts.mjs';
import { canPin } from '../support/measure.mjs';
import { AS_IN_SERVICE, startPostgres } from '../support/postgres.mjs';
import { startRedis } from '../support/redis.mjs';
import { spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';

/** Warm-up: what is compiled on the first call must not count. */
const WARM_SECONDS = 5;
/** The most tool calls that a session may have. */
const PER_SESSION = 200;

export const usage = `Options:
  --calls <n>       held calls, which ask for a tool in turn (100)
  --per-second <n>  tool calls per second of all calls together (100)
  --rounds <n>      rounds; medians are printed (5)
  --seconds <n>     measured seconds per round (10)`;

export const defaults = { calls: 100, 'per-second': 100, rounds: 5, seconds: 10 };

export const brief = ['--rounds', '3', '--seconds', '3'];

/** Sets a failing exit code when a tool is not answered by its server. */
export function run({ calls, 'per-second': perSecond, rounds, seconds }) {
  return withParts(async (start) => {
    const database = await start(startPostgres(AS_IN_SERVICE));
    const redis = await start(startRedis());
    const provider = await start(startStandIn());
    const environment = {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1',
      ...provider.environment,
    };
    const node = await start(startNode(environment, { agents: [agentAt(provider.toolPort)] }));
    const offer = (await offerSdp())({ channel: false });
    await inTurns(calls, async (n) => {
      const { ticket } = await createSession(node, KEYS.site, `user${n}@mail.example`, 'asking');
      await openCall(node, ticket, offer);
    });
    const ask = (round, lasting) => provider.ask('askTools', { perSecond, seconds: lasting, round });
    await ask('warm', WARM_SECONDS);
    const measured = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measureRound(round));
    return [tableOf(measured)];

    async function measureRound(round) {
      const before = { statements: await database.statements('tool_call'), cpu: node.cpuSeconds() };
      const answers = await ask(`round_${round}`, seconds);
      const failed = answers.filter(({ output }) => output.includes('"error"'));
      if (failed.length > 0) {
        console.error(`${failed.length} tools failed: ${failed[0].output}`);
        process.exitCode = 1;
      }
      const ms = answers.map((answer) => answer.ms).sort((a, b) => a - b);
      const each = (whole) => whole / answers.length;
      return {
        p50: ms[Math.floor(ms.length * 0.5)],
        p99: ms[Math.floor(ms.length * 0.99)],
        statements: each((await database.statements('tool_call')) - before.statements),
        cpuMs: each((node.cpuSeconds() - before.cpu) * 1000),
      };
    }
  });

  function tableOf(measured) {
    const row = (what, field, unit, goal = '') => {
      const values = measured.map((round) => round[field]);
      return { what, value: spread(values, 1), unit, goal };
    };
    return {
      title: `Tools of ${calls} calls, ${perSecond} per second`,
      goal: 'P17: 5 ms in the median, 15 ms in the 99th percentile, at most two statements',
      rows: [
        row('from asked to answered, median', 'p50', 'ms', 5),
        row('from asked to answered, 99th percentile', 'p99', 'ms', 15),
        row('statements a tool call', 'statements', '', 2),
        row('CPU a tool call, with both of its responses', 'cpuMs', 'ms'),
      ],
      notes: [
        `A PostgreSQL with fsync and a Redis for this run, ${canPin ? 'the server on core 0, all else on core 1' : 'not pinned'}.`,
        `The time for which the tool's server had the request is subtracted; the way there and back over loopback is not.`,
      ],
    };
  }
}

function agentAt(port) {
  const parameters = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] };
  const tool = { kind: 'server_tool', name: 'lookup', parameters, url: `http://localhost:${port}/lookup` };
  const voice = { model: 'gpt-realtime-2.1', voice: 'marin', instructions: 'Help.' };
  return { id: 'asking', ...voice, dataChannel: 'none', toolsPerSession: PER_SESSION, tools: [tool] };
}
