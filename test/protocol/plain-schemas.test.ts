import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { plainSchemas } from '../../src/protocol/plain-schemas.ts';
import { instant, seconds } from '../../src/protocol/fields.ts';

const fieldsOf = (shape: z.ZodRawShape) => plainSchemas(z.toJSONSchema(z.object(shape))).properties;
const name = z.string().meta({ description: 'A name', examples: ['ada'] });

describe('Schemas as readers get them', () => {
  test('say of a value that may be null what it is beside its name', () => {
    expect(fieldsOf({ name: name.nullable() })).toEqual({
      name: { type: ['string', 'null'], description: 'A name', examples: ['ada'] },
    });
  });

  test('say it in the words of the place where it stands, if that has some', () => {
    const { name: field } = fieldsOf({ name: name.nullable().meta({ description: 'Hers' }) }) ?? {};
    expect(field).toEqual({ type: ['string', 'null'], description: 'Hers', examples: ['ada'] });
  });

  test('keep what bounds a value that may be null', () => {
    const { at, kind } = fieldsOf({ at: instant.nullable(), kind: z.enum(['a', 'b']).nullable() }) ?? {};
    expect(at).toMatchObject({ anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] });
    expect(kind).toEqual({ anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] });
  });

  test('end with the unit of a number, once', () => {
    const { idle, left } = fieldsOf({
      idle: seconds.meta({ description: 'How long' }),
      left: seconds.nullable().meta({ description: 'How long; null for ever.' }),
    }) as Record<string, { readonly description: string }>;
    expect([idle?.description, left?.description]).toEqual([
      'How long. In seconds.',
      'How long; null for ever. In seconds.',
    ]);
    expect(plainSchemas(plainSchemas(idle))).toEqual(idle);
  });

  test('name no bound that every number has', () => {
    expect(fieldsOf({ n: z.int(), more: z.int().min(0) })).toEqual({
      n: { type: 'integer' },
      more: { type: 'integer', minimum: 0 },
    });
  });

  test('bound nothing beside a reference, and give parameters the words of their schemas', () => {
    expect(plainSchemas({ $ref: '#/x', description: 'It', additionalProperties: false })).toEqual({
      $ref: '#/x',
      description: 'It',
    });
    const schema = { type: 'string', description: 'Only these' };
    expect(plainSchemas({ in: 'query', name: 'q', schema })).toEqual({
      in: 'query',
      name: 'q',
      schema,
      description: 'Only these',
    });
  });
});
