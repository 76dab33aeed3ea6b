import { z } from 'zod';
import { END_REASONS, type EndReason } from '../../machines/voice-session/end-reasons.ts';
import { tool } from './agent.ts';
import { clientSecret, createReply, createRequest } from './create.ts';
import { refusalBody } from './errors/error-body.ts';
import { warning } from './frames.ts';
import { plainSchemas } from './plain-schemas.ts';
import { sessionLimits, sessionState, sessionView } from './session.ts';
import { usage } from './usage.ts';

/** The name of each shape in the SDK's types, and its description there for page authors. */
const published: Readonly<Record<string, readonly [shape: z.ZodType, about: string]>> = {
  SessionState: [sessionState, '`idle`: nobody spoke for too long, the next heartbeat ends it. `ended` is final.'],
  EndReason: [z.enum(Object.keys(END_REASONS) as EndReason[]), 'Why a session ended; more may be added.'],
  Tool: [tool, 'A tool that the agent can call; `kind` is for example `http_tool`.'],
  CreateRequest: [createRequest, 'The body of a create.'],
  ClientSecret: [clientSecret, 'A short-lived secret that opens a call with the provider.'],
  CreateReply: [createReply, 'The reply to a create.'],
  SessionLimits: [sessionLimits, 'The limits at which a session ends by itself.'],
  SessionView: [sessionView, 'The state of the session at the server.'],
  Usage: [usage, 'The user’s totals of the day, and their ceilings.'],
  Warning: [warning, 'A limit that will soon end the session.'],
  RefusalBody: [refusalBody, 'A refusal, as the server sends it.'],
};

type Schema = z.core.JSONSchema.BaseSchema;

/** The shapes as self-contained TypeScript: the SDK's published types are one file without imports. */
export function publishedTypes(): string {
  const names = z.registry<{ id: string }>();
  for (const [id, [shape]] of Object.entries(published)) names.add(shape, { id });
  const { schemas } = plainSchemas(z.toJSONSchema(names, { io: 'input', uri: (id) => id }));
  return Object.entries(published)
    .map(([name, [, about]]) => {
      const type = typeOf(schemas[name] ?? {});
      return `/** ${about} */\nexport ${type.startsWith('{') ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
    })
    .join('\n');
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref;
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each)).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${String(value)}'`).join(' | ');
  if (schema.type === 'array') return `readonly ${typeOf(schema.items as Schema)}[]`;
  if (schema.type === 'object') return objectOf(schema);
  return [schema.type].flat().join(' | ').replace('integer', 'number');
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties as Record<string, Schema>).map(([name, field]) => {
    const about = field.description === undefined ? '' : `  /** ${field.description} */\n`;
    const type = typeOf(field).replaceAll('\n', '\n  ');
    return `${about}  readonly ${name}${required.includes(name) ? '' : '?'}: ${type};\n`;
  });
  const further =
    additionalProperties === undefined || additionalProperties === false
      ? ''
      : `  readonly [further: string]: ${furtherOf(additionalProperties)};\n`;
  return `{\n${fields.join('')}${further}}`;
}

/** The type of an object's fields that are not named: that of a record's values, otherwise `unknown`. */
function furtherOf(schema: Schema | boolean): string {
  return typeof schema === 'object' && schema.type !== undefined ? typeOf(schema) : 'unknown';
}
