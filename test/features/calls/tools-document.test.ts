import { readFileSync } from 'node:fs';
import { beforeAll, expect, test, vi } from 'vitest';
import { serverTool } from '../../../src/protocol/server-tool.ts';
import { bodyOf, headersOf, type ToolRequest } from '../../../src/calls/tools/tool-request.ts';

type IsSigned = (headers: Readonly<Record<string, string>>, body: string, secret: string) => boolean;

const document = readFileSync('docs/tools.md', 'utf8');
const [ours, former, other] = [1, 2, 3].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [
  string,
  string,
  string,
];

function snippet(language: string): string {
  const [, code] = new RegExp('```' + language + '\n(.*?)```', 's').exec(document) ?? [];
  return code ?? '';
}

const request: ToolRequest = {
  toolCallId: 'call_1',
  tool: serverTool.parse(JSON.parse(snippet('json'))),
  arguments: { order: 'Ü17' },
  context: {
    session: { ref: 's:1', tenantId: 'acme', agentId: null, agentVersion: null, subject: 'x', metadata: {} },
    call: { ref: 'call_2' },
  },
  sealed: null,
};

let isSigned: IsSigned;

beforeAll(async () => {
  const url = `data:text/javascript;base64,${Buffer.from(snippet('js')).toString('base64')}`;
  ({ isSigned } = (await import(/* @vite-ignore */ url)) as { isSigned: IsSigned });
});

test('The snippet of tools.md takes what Switchboard has signed, by either secret while there are two', () => {
  const at = Date.now();
  const body = bodyOf(request, {}, at);
  const headers = headersOf(request, body, [ours, former], new Map([['crm', 'value']]), at);
  expect(headers['authorization']).toBe('Bearer value');
  for (const secret of [ours, former]) expect(isSigned(headers, body, secret)).toBe(true);
  expect(isSigned(headers, body, other)).toBe(false);
  expect(isSigned(headers, body.replace('Ü17', 'Ü18'), ours)).toBe(false);
  expect(isSigned({ ...headers, 'webhook-id': 'call_3' }, body, ours)).toBe(false);
  expect(isSigned({}, body, ours)).toBe(false);
});

test('The snippet of tools.md takes nothing that is older than five minutes', () => {
  const at = Date.now();
  const body = bodyOf(request, {}, at);
  const headers = headersOf(request, body, [ours], new Map(), at);
  vi.useFakeTimers({ now: at + 301_000 });
  expect(isSigned(headers, body, ours)).toBe(false);
  vi.useRealTimers();
});
