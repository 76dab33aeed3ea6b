import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiDocument } from '../../../src/http/routes/all.ts';
import { endpointsOf, type OpenApi } from '../../../src/site/reference/document.ts';
import { examplesOf, type Example } from '../../../src/site/reference/examples.ts';
import { requestOf } from '../../../src/site/reference/request.ts';

const baseUrl = 'https://voice.example.com';
const endpoints = endpointsOf(apiDocument(baseUrl) as OpenApi);
const all = endpoints.flatMap((endpoint) => {
  const { operationId } = endpoint.operation;
  const examples = examplesOf(operationId, requestOf(endpoint, baseUrl, undefined), baseUrl);
  return examples.map((example) => ({ operationId, ...example }));
});
const of = (operationId: string, kind: Example['kind']): string =>
  all.find((example) => example.operationId === operationId && example.kind === kind)?.code ?? '';

describe('The examples of requests', () => {
  test('send what the description has as its example', () => {
    const sent = endpoints.flatMap((endpoint) => {
      const { body } = requestOf(endpoint, baseUrl, undefined);
      return body === undefined ? [] : [[endpoint.operation.operationId, body.value] as const];
    });
    expect(sent.length).toBeGreaterThan(8);
    expect(sent.filter(([, value]) => value === undefined)).toEqual([]);
    for (const [operationId, value] of sent.filter(([, value]) => typeof value === 'object')) {
      const [, text = ''] = /-d '([^]*)'$/.exec(of(operationId, 'curl')) ?? [];
      expect(JSON.parse(text)).toEqual(value);
    }
  });

  test('name the origin that a key is bound to, where nothing else than a browser sends it by itself', () => {
    expect(of('createSession', 'curl')).toContain("-H 'Origin: https://www.acme.example'");
    expect(of('createSession', 'python')).toContain('"Origin": "https://www.acme.example"');
    expect(of('createSession', 'js')).not.toContain('Origin');
  });

  test('take a key that works on this installation where there is one', () => {
    const create = endpoints.find(({ operation }) => operation.operationId === 'createSession');
    if (create === undefined) throw new Error('no createSession');
    const key = { widgetKey: 'w_demo', agentId: 'guide', origin: 'http://localhost:3000' };
    expect(requestOf(create, baseUrl, key)).toMatchObject({
      origin: 'http://localhost:3000',
      body: { value: { widgetKey: 'w_demo', agentId: 'guide' } },
    });
  });

  test('prove themselves as the operation asks, by what the environment holds', () => {
    expect(of('listSessions', 'curl')).toContain('-H "Authorization: Bearer $SWITCHBOARD_TOKEN"');
    expect(of('getLogin', 'curl')).toContain('--cookie "tenant_session=$TENANT_SESSION"');
    expect(of('openCall', 'curl')).toContain('-H "Authorization: Bearer $CLIENT_SECRET"');
    expect(of('getHealth', 'curl')).toBe(`curl ${baseUrl}/healthz`);
  });

  test('in curl are read by a shell as they are', () => {
    // One shell checks all examples, each as a function.
    const functions = all.flatMap(({ kind, code, operationId }) =>
      kind === 'curl' ? [`${operationId}() {\n${code}\n}`] : [],
    );
    expect(functions.length).toBeGreaterThan(endpoints.length - 1);
    const { status, stderr } = spawnSync('bash', ['-n'], { input: functions.join('\n'), encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });

  test('in JavaScript are modules without a mistake', () => {
    const directory = mkdtempSync(join(tmpdir(), 'switchboard-examples-'));
    try {
      // One file holds all examples, each as a function.
      const functions = all.flatMap(({ kind, code }) => {
        if (kind !== 'js') return [];
        const imported = code.replace(/^import \{ (\w+) \} from '([^']+)';/m, "const { $1 } = await import('$2');");
        return [`(async () => {\n${imported}\n});`];
      });
      expect(functions.length).toBeGreaterThan(endpoints.length);
      const file = join(directory, 'all.mjs');
      writeFileSync(file, functions.join('\n'));
      execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  const python = spawnSync('python3', ['--version']).status === 0;
  test.skipIf(!python)('in Python are programs without a mistake', () => {
    const sources = JSON.stringify(all.filter(({ kind }) => kind === 'python').map(({ code }) => code));
    const check = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)';
    const { status, stderr } = spawnSync('python3', ['-c', check], { input: sources, encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });
});
