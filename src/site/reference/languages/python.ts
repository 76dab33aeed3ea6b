import type { ExampleRequest } from '../request.ts';

/** Code for Python 3 with the package requests; for sockets with websockets. */
export function python(request: ExampleRequest): string {
  return request.socket === undefined ? requestOf(request) : socketOf(request, request.socket);
}

const variables = {
  none: undefined,
  cookie: 'TENANT_SESSION',
  service: 'SWITCHBOARD_TOKEN',
  ticket: 'CLIENT_SECRET',
} as const;

function requestOf(request: ExampleRequest): string {
  const { method, url, body, credential, answersJson } = request;
  const headers = headersOf(request);
  const parts = [
    `"${url}"`,
    ...(credential === 'cookie' ? ['cookies={"tenant_session": os.environ["TENANT_SESSION"]}'] : []),
    ...(headers.length === 0 ? [] : [`headers={${headers.join(', ')}}`]),
    ...(body === undefined
      ? []
      : [typeof body.value === 'string' ? `data=${JSON.stringify(body.value)}` : `json=${literal(body.value)}`]),
    'timeout=30',
  ];
  return [
    ...(credential === 'none' ? [] : ['import os', '']),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(\n${parts.map((part) => `    ${part},\n`).join('')})`,
    'response.raise_for_status()',
    `print(response.${answersJson ? 'json()' : 'text'})`,
  ].join('\n');
}

function headersOf({ credential, origin, body }: ExampleRequest): string[] {
  const variable = variables[credential];
  return [
    ...(variable === undefined || credential === 'cookie'
      ? []
      : [`"Authorization": f"Bearer {os.environ['${variable}']}"`]),
    ...(origin === undefined ? [] : [`"Origin": "${origin}"`]),
    // For JSON the package sets the header itself.
    ...(typeof body?.value === 'string' ? [`"Content-Type": "${body.type}"`] : []),
  ];
}

function literal(value: unknown, indent = '    '): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}    `;
  const lines = Array.isArray(value)
    ? value.map((entry) => literal(entry, deeper))
    : Object.entries(value).map(([name, entry]) => `${JSON.stringify(name)}: ${literal(entry, deeper)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const isFlat = Array.isArray(value) || lines.length === 1;
  if (isFlat) return `${open}${lines.join(', ')}${close}`;
  return `${open}\n${lines.map((line) => `${deeper}${line},\n`).join('')}${indent}${close}`;
}

function socketOf(request: ExampleRequest, { subprotocol, frame }: NonNullable<ExampleRequest['socket']>): string {
  const headers = headersOf(request);
  const parts = [
    `"${request.url}"`,
    `subprotocols=["${subprotocol}"]`,
    ...(headers.length === 0 ? [] : [`additional_headers={${headers.join(', ')}}`]),
  ];
  return [
    'import asyncio',
    'import json',
    ...(headers.length === 0 ? [] : ['import os']),
    '',
    'import websockets',
    '',
    'async def main():',
    `    async with websockets.connect(\n${parts.map((part) => `        ${part},\n`).join('')}    ) as socket:`,
    `        await socket.send(json.dumps(${literal(frame, '        ')}))`,
    '        async for text in socket:',
    '            print(json.loads(text))',
    '',
    'asyncio.run(main())',
  ].join('\n');
}
