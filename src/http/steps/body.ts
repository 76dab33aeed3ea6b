import { isUtf8 } from 'node:buffer';
import { Refusal } from '../../protocol/refusal.ts';
import { findUnstorable } from '../../kernel/text.ts';
import { fieldsInWords, invalid, invalidFields } from '../refusals.ts';
import type { HttpRequest } from '../message.ts';
import type { RequestContext, TextBody } from '../route.ts';

/** A larger body is refused (docs/contract.md, section 2.1); the transport does not even keep it in memory. */
export const MAX_BODY_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
const JSON_CONTENT = 'application/json';
const isJson = patternOf(JSON_CONTENT);

/** Parses the body by the schema of its route, or as text. A request without a body is valid where the schema accepts undefined. */
export function readBody(ctx: RequestContext): Refusal | undefined {
  const { route } = ctx.endpoint;
  const schema = route?.body;
  if (schema === undefined) return route?.text === undefined ? undefined : readText(ctx, route.text);
  ctx.body = usualBody(ctx);
  if (ctx.body !== undefined) return undefined;
  const { body } = ctx.request;
  if (body.length === 0 && schema.safeParse(undefined).success) return undefined;
  if (body === 'too_large') return tooLarge();
  const wrong = wrongContent(ctx.request, JSON_CONTENT, isJson);
  if (wrong !== undefined) return wrong;
  const text = body.toString('utf8');
  const value = parseJsonObject(body, text);
  if (value instanceof Refusal) return value;
  const checked = schema.safeParse(value);
  if (!checked.success) return invalidFields(fieldsInWords(schema, value).slice(0, 20));
  ctx.body = checked.data;
  return undefined;
}

/**
 * The parsed body, if it is one of the texts that nearly all callers send (`Route.usual`); otherwise undefined. Such a text is flat and
 * plain ASCII, which decodes as Latin-1 too: nothing that the parser would refuse passes here.
 */
export function usualBody({ endpoint: { route }, request }: RequestContext): unknown {
  const { body } = request;
  if (route?.usual === undefined || body === 'too_large') return undefined;
  if (wrongContent(request, JSON_CONTENT, isJson) !== undefined) return undefined;
  return route.usual(body.toString('latin1'));
}

function readText(ctx: RequestContext, { contentType, maxBytes }: TextBody): Refusal | undefined {
  const { body } = ctx.request;
  if (body === 'too_large' || body.length > maxBytes) return tooLarge(maxBytes);
  const wrong = wrongContent(ctx.request, contentType, patternOf(contentType));
  if (wrong !== undefined) return wrong;
  if (body.length === 0) return invalid('The body is empty.');
  if (!isUtf8(body)) return invalid('The body is not valid UTF-8.');
  ctx.body = body.toString('utf8');
  return undefined;
}

function tooLarge(maxBytes = MAX_BODY_BYTES): Refusal {
  const kib = maxBytes / 1024;
  return new Refusal('PAYLOAD_TOO_LARGE', `A body may have at most ${kib} KiB.`, {}, { limit: kib, unit: 'KiB' });
}

/** Matches the content type in any case, with no charset or with UTF-8. */
function patternOf(contentType: string): RegExp {
  const name = contentType.replaceAll('+', String.raw`\+`);
  return new RegExp(`^${name}\\s*(;\\s*charset="?utf-8"?\\s*)?$`, 'i');
}

function wrongContent({ headers }: HttpRequest, contentType: string, pattern: RegExp): Refusal | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined && headers['content-type'] === contentType) return undefined;
  if (!/^(identity)?$/i.test(encoding ?? ''))
    return new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body as it is (Content-Encoding: identity), not compressed.',
    );
  if (!pattern.test(headers['content-type'] ?? ''))
    return new Refusal('UNSUPPORTED_MEDIA_TYPE', `Send the body as Content-Type: ${contentType} in UTF-8.`);
  return undefined;
}

/** Parses a body: one JSON object in UTF-8, nested at most 32 deep (docs/contract.md, section 2.1). */
export function parseJsonObject(body: Buffer, text = body.toString('utf8')): Record<string, unknown> | Refusal {
  if (body.length === 0) return invalid('The body is empty; send a JSON object.');
  if (!isUtf8(body)) return invalid('The body is not valid UTF-8.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(`The body is not valid JSON: ${describeSyntax(error)}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return invalid('The body must be a JSON object.');
  if (isDeeper(value, MAX_DEPTH)) return invalid(`The body is nested more than ${MAX_DEPTH} deep.`);
  // Only an escape can introduce characters that UTF-8 and JSON do not allow literally.
  const unstorable = text.includes('\\u') ? findUnstorable(value) : [];
  return unstorable.length > 0 ? invalidFields(unstorable) : (value as Record<string, unknown>);
}

/** The parser's message, without the excerpt of the body that some messages quote: refusals are logged, and it may contain a code. */
function describeSyntax(error: unknown): string {
  if (!(error instanceof SyntaxError)) return '';
  return /^Unexpected token '.+?'(?=, )|^[^"']*(?:'[^']'[^"']*)*$/u.exec(error.message)?.[0] ?? 'it cannot be read';
}

/** Whether a parsed value is nested deeper than `levels`: it could overflow the stack when it is serialized or compared later. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const key in value) {
    const field: unknown = (value as Record<string, unknown>)[key];
    if (typeof field === 'object' && field !== null && isDeeper(field, levels - 1)) return true;
  }
  return false;
}
