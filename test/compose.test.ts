import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { variables } from '../config/variables.ts';

const compose = readFileSync(fileURLToPath(new URL('../config/compose.yaml', import.meta.url)), 'utf8');
const [, nodes = ''] = /^x-node:.*?^ {2}environment:\n(.*?)^ {2}\S/ms.exec(compose) ?? [];
const settings = new Map(
  [...nodes.matchAll(/^ {4}([A-Z_]+): (.+)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

/** Decided by the image, or by where compose mounts a file. */
const ofTheImage = new Set(['HOST', 'PORT', 'DATA_DIR', 'TENANTS_FILE']);
/** Decided by the file: its own servers. */
const ofTheFile = new Set(['DATABASE_URL', 'REDIS_URL']);

describe('config/compose.yaml', () => {
  test('hands every variable to the nodes that a deployment may set', () => {
    const wanted = variables.map(({ name }) => name).filter((name) => !ofTheImage.has(name));
    expect([...settings.keys()].sort()).toEqual(wanted.sort());
    const dropped = [...settings].filter(([name, value]) => !ofTheFile.has(name) && !value.startsWith(`\${${name}:-`));
    expect(dropped).toEqual([]);
  });

  test('publishes nothing beyond this machine by itself', () => {
    const published = [...compose.matchAll(/^ {4}ports: \['(.+)'\]$/gm)].map(([, ports]) => ports);
    expect(published).toEqual([
      '${HTTP_ADDRESS:-127.0.0.1}:${HTTP_PORT:-8080}:8080',
      '127.0.0.1:8025:8025',
      '127.0.0.1:9090:9090',
      '127.0.0.1:3001:3000',
    ]);
  });
});
