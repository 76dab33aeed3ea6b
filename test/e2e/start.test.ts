import { join } from 'node:path';
import { tmpdir } from 'node:os';
import postgres from 'postgres';
import { afterEach, describe, expect, test } from 'vitest';
import { variables } from '../../config/variables.ts';
import { neededDatabase } from '../support/services/fresh-database.ts';
import { reasonToSkipPostgres } from '../support/services/postgres.ts';
import { freePort } from '../support/services/server-process.ts';
import { promptly, runToEnd, Switchboard } from '../support/switchboard.ts';
import { embedded, World } from '../support/world.ts';

/** A directory that is never written to. */
const nowhere = { DATA_DIR: join(tmpdir(), 'switchboard-is-never-made') };
const neededInProduction = variables.filter(({ production }) => production);

describe('Production', () => {
  test('does not start half-configured, and lists everything missing or wrong at once, each with an example', async () => {
    const { code, stdout, stderr } = await runToEnd([], {
      ...nowhere,
      NODE_ENV: 'production',
      PORT: 'many',
      TRUST_PROXY: 'all',
    });
    expect(code).toBe(78);
    expect(neededInProduction.length).toBeGreaterThan(5);
    for (const { name, example } of neededInProduction) {
      expect(stderr).toContain(name);
      expect(stderr).toContain(example);
    }
    expect(stderr).toMatch(/PORT.*"many"/);
    expect(stderr).toMatch(/TRUST_PROXY/);
    expect(stdout).not.toContain('ready');
  });
});

describe('A start', () => {
  test('without a reachable database says so, and does not print its password', async () => {
    const port = await freePort();
    const DATABASE_URL = `postgres://switchboard:hunter2@127.0.0.1:${port}/switchboard`;
    for (const command of [[], ['migrate']]) {
      const { code, stdout, stderr } = await runToEnd(command, { ...nowhere, DATABASE_URL, PORT: '0' });
      expect(code).toBe(69);
      expect(stderr).toMatch(/database.*ECONNREFUSED.*DATABASE_URL/);
      expect(stdout + stderr).not.toMatch(/hunter2|\n\s+at /);
    }
  });

  test.skipIf(reasonToSkipPostgres() !== undefined)(
    'with a database that does not support the required TLS says so in words',
    async () => {
      const database = await neededDatabase();
      const DATABASE_URL = `${database.url}?sslmode=require`;
      const { code, stdout, stderr } = await runToEnd(['migrate'], { ...nowhere, DATABASE_URL });
      await database.drop();
      expect(code).toBe(69);
      expect(stderr).toMatch(/database.*TLS.*sslmode.*NODE_EXTRA_CA_CERTS/);
      expect(stdout + stderr).not.toMatch(/\n\s+at /);
    },
  );

  test.skipIf(reasonToSkipPostgres() !== undefined)(
    'with a database that refuses a migration prints its message, not a stack trace',
    async () => {
      const database = await neededDatabase();
      const DATABASE_URL = `${database.url}?search_path=nowhere`;
      const { code, stdout, stderr } = await runToEnd(['migrate'], { ...nowhere, DATABASE_URL });
      await database.drop();
      expect(code).toBe(69);
      expect(stderr).toMatch(/^The database refuses: .*no schema.*3F000/);
      expect(stdout + stderr).not.toMatch(/\n\s+at /);
    },
  );

  test.skipIf(reasonToSkipPostgres() !== undefined)(
    'waits for a database that is slower than a request’s deadline',
    async () => {
      const database = await neededDatabase();
      const environment = { ...nowhere, ...promptly, DATABASE_URL: database.url };
      await runToEnd(['migrate'], environment);
      const sql = postgres(database.url, { max: 1 });
      const starting = await sql.begin(async (busy) => {
        await busy`lock table voice_call`;
        const outcome = Switchboard.start(environment).catch((error: unknown) => error);
        const over = outcome.then(() => true);
        const isWaiting = async (): Promise<boolean> => {
          // The database server also holds the databases of other tests.
          const { count } = await busy`
            select from pg_locks join pg_database on pg_database.oid = database and datname = current_database()
            where relation = 'voice_call'::regclass and not granted`;
          return count > 0;
        };
        while (!(await Promise.race([over, isWaiting()])));
        await busy`select pg_sleep(1)`;
        return { outcome };
      });
      const server = await starting.outcome;
      expect(server).toBeInstanceOf(Switchboard);
      await (server as Switchboard).end();
      await sql.end();
      await database.drop();
    },
  );

  test('of a command that uses only the database needs no other production settings', async () => {
    const DATABASE_URL = `postgres://switchboard@127.0.0.1:${await freePort()}/switchboard`;
    for (const command of [['migrate'], ['keys', 'list']]) {
      const { stderr } = await runToEnd(command, { ...nowhere, NODE_ENV: 'production', DATABASE_URL });
      expect(stderr).toMatch(/ECONNREFUSED|database is not available/);
      const without = await runToEnd(command, { ...nowhere, NODE_ENV: 'production' });
      expect(without).toMatchObject({ code: 78, stderr: expect.stringContaining('DATABASE_URL') });
      expect(without.stderr).not.toContain('JWT_SECRET');
    }
  });

  test('with a data directory that cannot be made says so', async () => {
    const { code, stderr } = await runToEnd([], { DATA_DIR: join(process.execPath, 'data'), PORT: '0' });
    expect(code).toBe(69);
    expect(stderr).toMatch(/ENOTDIR.*DATA_DIR/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test.runIf(process.platform === 'linux')('with a data directory in /proc says so', async () => {
    const { code, stderr } = await runToEnd([], { DATA_DIR: '/proc/x', PORT: '0' });
    expect(code).toBe(69);
    expect(stderr).toMatch(/takes no directories.*DATA_DIR/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('in direct mode, but not in brokered mode, says that ends and usage are advisory', async () => {
    const world = await World.start();
    const note = 'ends and usage are advisory';
    const direct = world.server.output.stdout;
    await world.server.end('SIGTERM');
    const brokered = await world.startServer({ CALL_MODE: 'brokered' });
    expect([direct.includes(note), brokered.output.stdout.includes(note)]).toEqual([true, false]);
    await world.close();
  });

  test('names the keys that are open, as check-config does, including those in the database', async () => {
    const world = await World.start(embedded);
    const check = async (): Promise<string> => (await runToEnd(['check-config'], world.environment)).stdout;
    expect(world.printed()).toMatch(
      /"acme\/site: pages may ask for any model.*keys are open: whoever copies one has a free model/,
    );
    expect(await check()).toMatch(/^database: not read, .* is in use by process/m);
    await world.server.end();
    const issue = ['keys', 'issue', '--tenant', 'acme', '--site', 'pilot', '--origin', 'https://pilot.example'];
    expect((await runToEnd([...issue, '--overrides'], world.environment)).code).toBe(0);
    const printed = await check();
    expect(printed).toMatch(/^database: 1 widget key that the tenants file does not name$/m);
    expect(printed).toMatch(/^warning: open key acme\/acme-pilot: pages may ask for any model and instructions$/m);
    await world.close();
  });

  test.runIf(process.platform === 'linux')('in development accepts only this machine, and says so', async () => {
    // A server that listens on all addresses listens on this one too.
    const reach = (port: number): Promise<unknown> =>
      fetch(`http://127.0.0.2:${port}/healthz`).then(
        ({ status }) => status,
        () => 'nobody',
      );
    const note = 'from this machine only: HOST=0.0.0.0 accepts other machines';
    const world = await World.start();
    expect(world.server.output.stdout).toContain(note);
    expect(await reach(world.server.port)).toBe('nobody');
    await world.server.end('SIGTERM');
    const open = await world.startServer({ HOST: '0.0.0.0' });
    expect(open.output.stdout).not.toContain(note);
    expect(await reach(open.port)).toBe(200);
    await world.close();
  });

  test.each([
    [
      'that an echo is in the place of a model',
      'development',
      'an echo answers in place of the model: set OPENAI_API_KEY',
    ],
    ['that nobody can talk', 'test', 'the provider is simulated, and calls are not answered: set OPENAI_API_KEY'],
  ])('without a key says %s, in %s', async (_what, mode, note) => {
    const world = await World.start({ UPSTREAM_PROVIDER: 'local', OPENAI_API_KEY: '', NODE_ENV: mode });
    const { stdout } = world.server.output;
    await world.close();
    expect(stdout.split('\n').filter((line) => line.endsWith('set OPENAI_API_KEY'))).toEqual([`    - ${note}`]);
    expect(stdout).not.toContain('advisory');
  });

  test('with a tenants file that is not there says so', async () => {
    const file = join(tmpdir(), 'switchboard-no-such-tenants.json');
    const world = await World.start();
    await world.server.end('SIGTERM');
    const { code, stdout, stderr } = await runToEnd([], { ...world.environment, TENANTS_FILE: file, PORT: '0' });
    await world.close();
    expect(code).toBe(78);
    expect(stdout + stderr).toContain(file);
  });
});

describe('A second server', () => {
  let world: World;

  afterEach(() => world.close());

  test('on the same data is refused, and says which process uses them', async () => {
    world = await World.start(embedded);
    const { code, stdout, stderr } = await runToEnd([], { ...world.environment, PORT: '0' });
    expect(code).toBe(69);
    expect(stderr + stdout).toContain(`is in use by process ${world.server.pid}`);
    expect(stderr + stdout).toContain('DATA_DIR');
    expect(stderr + stdout).not.toMatch(/\n\s+at /);
    expect((await world.person().get('/readyz')).status).toBe(200);
  });

  test('on the same port is refused with a message in words', async () => {
    world = await World.start({ HOST: '127.0.0.1' });
    const port = String(world.server.port);
    const elsewhere = join(world.directory, 'other');
    const { code, stdout, stderr } = await runToEnd([], { ...world.environment, PORT: port, DATA_DIR: elsewhere });
    expect(code).toBe(1);
    expect(stderr + stdout).toMatch(new RegExp(`port ${port}`, 'i'));
    expect(stderr + stdout).not.toMatch(/\n\s+at /);
  });
});

describe('The command line', () => {
  test('prints the OpenAPI description that the server serves', async () => {
    const { code, stdout } = await runToEnd(['print-openapi'], {});
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
  });

  test('refuses arguments that it does not know, and does nothing', async () => {
    for (const args of [
      ['serve', '--port', '80'],
      ['migrate', '--dry-run'],
      ['check-config', 'strict'],
    ]) {
      const { code, stdout, stderr } = await runToEnd(args, { ...nowhere, PORT: '0' });
      expect([code, stdout]).toEqual([64, '']);
      expect(stderr).toContain(args[1]);
    }
  });

  test('accepts --help after a command, and does nothing else', async () => {
    const { code, stdout } = await runToEnd(['migrate', '--help'], nowhere);
    expect(code).toBe(0);
    expect(stdout).toContain('DATABASE_URL');
  });

  test('refuses a command that it does not know', async () => {
    const { code, stderr } = await runToEnd(['srve'], {});
    expect(code).toBe(64);
    expect(stderr).toContain('srve');
  });
});
