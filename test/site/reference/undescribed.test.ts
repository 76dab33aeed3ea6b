import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { requireDescriptions } from '../../../src/app/serve.ts';
import { describeRoutes } from '../../../src/http/openapi.ts';
import { defineRoute } from '../../../src/http/route.ts';
import { describedRoutes } from '../../../src/http/routes/all.ts';
import { count, inUnit } from '../../../src/protocol/fields.ts';
import type { AsyncApi, OpenApi } from '../../../src/site/reference/document.ts';
import { undescribed } from '../../../src/site/reference/undescribed.ts';

const noFrames: AsyncApi = { channels: {}, operations: {}, components: { messages: {} } };

/** The descriptions that are reported missing for an operation that replies with these fields. */
function missingOf(shape: z.ZodRawShape, query?: z.ZodObject): string[] {
  const route = defineRoute({
    method: 'GET',
    path: '/new',
    operationId: 'getNew',
    summary: 'Something new',
    tag: 'Operations',
    access: 'public',
    ...(query === undefined ? {} : { query }),
    replies: { 200: { description: 'It', schema: z.object(shape) } },
    refusals: [],
    handle: () => ({ status: 200, body: {} }),
  });
  return undescribed(describeRoutes([...describedRoutes(), route], '0', '/') as OpenApi, noFrames);
}

describe('The descriptions of the interface', () => {
  test('say of every field, parameter, header and frame what it is, with an example and a unit', () => {
    expect(requireDescriptions).not.toThrow();
  });

  test('are incomplete where a field says nothing of itself, also deep inside', () => {
    const bare = z.string().meta({ examples: ['x'] });
    expect(missingOf({ name: bare, rows: z.array(z.object({ id: bare })).meta({ description: 'Rows' }) })).toEqual([
      'getNew 200.name has no description',
      'getNew 200.rows.id has no description',
    ]);
  });

  test('are incomplete where a value has no example and does not list what it may be', () => {
    const description = 'Something';
    const shape = {
      text: z.string().meta({ description }),
      list: z.array(z.string()).meta({ description }),
      map: z.record(z.string(), z.string()).meta({ description }),
      fixed: z.literal('a').meta({ description }),
      chosen: z.enum(['a', 'b']).nullable().meta({ description }),
      isSo: z.boolean().meta({ description }),
    };
    expect(missingOf(shape)).toEqual([
      'getNew 200.text has no example',
      'getNew 200.list has no example',
      'getNew 200.map has no example',
    ]);
  });

  test('are incomplete where a number, or one that may be null, has no unit of the list', () => {
    const said = { description: 'Something', examples: [1] };
    const shape = {
      bare: z.number().meta(said),
      none: z.number().nullable().meta(said),
      other: z.number().meta({ ...said, 'x-unit': 'furlongs' }),
      counted: count.nullable().meta(said),
      timed: z.number().meta({ ...said, ...inUnit('seconds', 1) }),
    };
    expect(missingOf(shape)).toEqual(
      ['bare', 'none', 'other'].map((name) => `getNew 200.${name} is a number without a unit (x-unit)`),
    );
  });

  test('are incomplete where a parameter says nothing of itself', () => {
    expect(missingOf({ isSo: z.boolean().meta({ description: 'Something' }) }, z.object({ q: z.string() }))).toEqual([
      'getNew query q has no description',
      'getNew query q has no example',
    ]);
  });
});
