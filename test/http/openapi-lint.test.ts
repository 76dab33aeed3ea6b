import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Document, Spectral, type RulesetDefinition } from '@stoplight/spectral-core';
import { Json } from '@stoplight/spectral-parsers';
import { oas } from '@stoplight/spectral-rulesets';
import { describe, expect, test } from 'vitest';
import { apiDocument } from '../../src/http/routes/all.ts';

const source = JSON.stringify(apiDocument('/'), null, 2);

/** Both rule sets ask every operation for a success of 2xx; that of an upgrade is 101 (RFC 9110 section 15.2.2). */
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

  test("passes Spectral's recommended rules", async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] });
    const problems = await spectral.run(new Document(source, Json, 'openapi.json'));
    const found = problems.map(({ code, message, path }) => ({ code, message, at: path.join('/') }));
    expect(found.filter(({ code, at }) => code !== 'operation-success-response' || !isUpgrade(at))).toEqual([]);
  });

  test('would not pass with a fault in it', async () => {
    const broken = source.replace('"description": "Seconds"', '"description": 5');
    expect(broken).not.toBe(source);
    const config = await createConfig({ extends: ['recommended'] });
    expect(await lintFromString({ source: broken, config, absoluteRef: 'openapi.json' })).not.toEqual([]);
  });
});
