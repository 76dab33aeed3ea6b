import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { apiDocument } from '../../src/http/routes/all.ts';

const source = JSON.stringify(apiDocument('/'), null, 2);

/** The rules require a 2xx success for every operation; that of an upgrade is 101 (RFC 9110 section 15.2.2). */
const isUpgrade = (path: string): boolean => /realtime.+socket|operator.+feed/.test(path);

describe('The interface description', () => {
  test("passes Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' });
    const found = problems.map(({ ruleId, message, location }) => ({
      ruleId,
      message,
      at: location[0]?.pointer ?? '',
    }));
    expect(found.filter(({ ruleId, at }) => ruleId !== 'operation-2xx-response' || !isUpgrade(at))).toEqual([]);
  });

  test('would not pass with a fault in it', async () => {
    const broken = JSON.stringify({ openapi: '3.1.0', info: { title: 'x', version: '1', description: 5 }, paths: {} });
    const config = await createConfig({ extends: ['recommended'] });
    expect(await lintFromString({ source: broken, config, absoluteRef: 'openapi.json' })).not.toEqual([]);
  });
});
