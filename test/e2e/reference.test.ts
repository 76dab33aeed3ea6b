import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { referencePages, referencePath } from '../../src/site/reference/groups.ts';
import { endpointsOf, type OpenApi } from '../../src/site/reference/document.ts';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { Switchboard } from '../support/switchboard.ts';

const skipped = reasonToSkip(() => ['curl', 'bash', 'openssl'].map((name) => findBinary(name, name)));
const token = 'a-service-token-for-the-examples';
const env = { ...process.env, SWITCHBOARD_TOKEN: token, TENANT_SESSION: 'none', CLIENT_SECRET: 'ek_none' };

/** Statuses of the examples whose ids are made up; every other example is answered as its reply says. */
const without: Readonly<Record<string, number>> = {
  sendHeartbeat: 404,
  endSession: 404,
  rateSession: 404,
  openCall: 401,
  openVendorCall: 401,
  createRoomToken: 400,
  hearRoom: 401,
  getCallTicket: 404,
  reportUsage: 404,
  verifyLoginCode: 401,
  getLogin: 401,
  listOwnLogins: 401,
  revokeOwnLogin: 401,
  getSession: 404,
  listSessionEvents: 404,
  getCall: 404,
  getSessionCall: 404,
  endSessionAsOperator: 404,
  endSessions: 200,
  whisperToAgent: 404,
  issueKey: 400,
  revokeKey: 404,
  pauseKey: 404,
  resumeKey: 404,
  replayChange: 404,
  makeBudget: 404,
  changeBudget: 404,
  deleteBudget: 404,
  stopService: 404,
  resumeService: 404,
  setSecret: 404,
  saveView: 201,
  deleteView: 404,
  rotateSigningSecret: 404,
  deleteSecret: 404,
  getOperatorLogin: 404,
  revokeLogin: 404,
  getChallenge: 404,
  getCreateChallenge: 404,
  getWebhook: 404,
  addWebhook: 404,
  changeWebhook: 404,
  deleteWebhook: 404,
  rotateWebhookSecret: 404,
  tryWebhook: 404,
  enableWebhook: 404,
  disableWebhook: 404,
  listDeliveries: 404,
  getDelivery: 404,
  replayDelivery: 404,
  replayDeliveries: 404,
  listSessionDeliveries: 404,
};

function textOf(markup: string): string {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return markup.replaceAll(/<[^>]+>/g, '').replaceAll(/&([\w#]+);/g, (_, name: string) => entities[name] ?? '');
}

/** Whether the command opens a socket; an open socket ends only when the client is killed. */
function opens(command: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', `exec ${command}`], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (seen.includes('\r\n\r\n')) child.kill();
    });
    child.on('close', () => resolve(seen.startsWith('HTTP/1.1 101')));
  });
}

describe.skipIf(skipped)('The curl examples of the API reference', () => {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-reference-'));
  let server: Switchboard;
  let page: string;
  let operations: readonly string[];

  beforeAll(async () => {
    server = await Switchboard.start({ DATA_DIR: join(directory, 'data'), SERVICE_TOKENS: token });
    const document = (await (await fetch(`${server.origin}/openapi.json`)).json()) as OpenApi;
    const pages = referencePages.map(async (each) => (await fetch(server.origin + referencePath(each))).text());
    page = (await Promise.all(pages)).join('');
    operations = endpointsOf(document).map(({ operation }) => operation.operationId);
  });

  afterAll(async () => {
    await server.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  const exampleOf = (id: string): string => {
    const [, entry = ''] = page.split(`<article class="entry" id="${id}">`);
    return textOf(/only-curl">[^]*?<pre[^>]*>([^]*?)<\/pre>/.exec(entry)?.[1] ?? '');
  };

  test('run unchanged, and are answered as their entries say', async () => {
    const answers: (readonly [string, number | string])[] = [];
    // One after the other: readiness gives a dependency one second, even one with forty questions queued before it.
    for (const id of operations) {
      const example = exampleOf(id);
      expect(example, id).toContain(server.origin);
      if (example.includes('Upgrade')) {
        answers.push([id, (await opens(example)) ? 'opens' : 'is refused']);
        continue;
      }
      const command = example.replace('curl', "curl -s -o /dev/null -w '%{http_code}'");
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { env });
      answers.push([id, Number(stdout)]);
    }
    const expected = operations.map((id) => {
      if (['openSocket', 'openFeed'].includes(id)) return [id, 'opens'];
      return [id, without[id] ?? 200];
    });
    expect(answers).toEqual(expected);
  });
});
