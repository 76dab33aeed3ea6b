import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { withoutDemo } from '../src/tenants/demo.ts';
import { readTenantsFile } from '../src/tenants/tenants-file.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(`../config/${name}`, import.meta.url));
const read = (name: string): string => readFileSync(fileOf(name), 'utf8');

describe('The samples for production', () => {
  test.each([
    ['compose.yaml', '    CALL_MODE: ${CALL_MODE:-brokered}\n'],
    ['compose.env', '\nCALL_MODE=brokered\n'],
    ['kubernetes.yaml', '{ name: CALL_MODE, value: "brokered" }'],
  ])('broker calls: config/%s', (file, line) => {
    expect(read(file)).toContain(line);
  });

  test.each([
    ['compose.yaml', '${TENANTS_FILE:-./production-tenants.json}:/app/config/tenants.json:ro'],
    ['compose.env', '\nTENANTS_FILE=../data/production-tenants.json\n'],
    ['kubernetes.yaml', '--from-file=tenants.json=config/production-tenants.json'],
  ])('serve a tenant of their own: config/%s', (file, line) => {
    expect(read(file)).toContain(line);
  });

  test('have a tenant with an agent and without a key, which everybody could read', async () => {
    const tenants = await readTenantsFile(fileOf('production-tenants.json'), 0);
    const served = withoutDemo(tenants, 'https://voice.example.com');
    expect(served).toEqual(tenants);
    expect(served.map(({ agents, keys }) => [agents.length, keys.length])).toEqual([[1, 0]]);
  });

  test('of systemd starts what the image starts, stops it after its drain, and gives up what cannot mend itself', () => {
    const unit = read('switchboard.service');
    const [, image = ''] =
      /^CMD (\[.*\])$/m.exec(readFileSync(fileURLToPath(new URL('../Dockerfile', import.meta.url)), 'utf8')) ?? [];
    expect(unit).toContain(`\nExecStart=/usr/bin/${(JSON.parse(image) as string[]).join(' ')}\n`);
    expect(unit).toContain('\nRestartPreventExitStatus=64 78\n');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(10);
  });

  test('of the image is reached in its container in every mode', () => {
    expect(readFileSync(fileURLToPath(new URL('../Dockerfile', import.meta.url)), 'utf8')).toMatch(
      /^ENV .*HOST=0\.0\.0\.0/m,
    );
  });
});
