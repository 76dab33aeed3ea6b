import type { FeedFact } from '../../protocol/operator/feed.ts';
import { operatorNode } from '../../protocol/operator/node.ts';
import type { BusMessage } from './contract.ts';

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isUsage = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Number.isSafeInteger((value as Fields)['tokens']) &&
  Number.isSafeInteger((value as Fields)['microDollars']);

const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isCounted = (value: unknown): boolean =>
  isRecord(value) && isText(value['code']) && Number.isSafeInteger(value['n']);

/** What makes a fact of each kind one. */
const facts: Readonly<Record<FeedFact['kind'], (fields: Fields) => boolean>> = {
  session: ({ change }) => isRecord(change) && isText(change['ref']) && isText(change['tenantId']),
  event: ({ ref, tenantId, event }) => isText(ref) && isText(tenantId) && isRecord(event),
  audit: ({ row }) => isRecord(row) && isText(row['actor']),
  refusals: ({ counts, samples }) =>
    Array.isArray(counts) && counts.every(isCounted) && Array.isArray(samples) && samples.every(isRecord),
};

/** What a newer node tells of as well takes nothing from what this one knows. */
const isFact = (value: unknown): boolean => {
  if (!isRecord(value) || typeof value['kind'] !== 'string') return false;
  return Object.hasOwn(facts, value['kind']) ? facts[value['kind'] as FeedFact['kind']](value) : true;
};

/** What makes a message of each type one: nodes of another version, or other programs on the channel, may send anything. */
const shapes: Readonly<Record<BusMessage['type'], (fields: Fields) => boolean>> = {
  'tenants.changed': () => true,
  'login.changed': ({ loginId }) => isText(loginId),
  'feed.watched': ({ node, refs, topics }) =>
    isText(node) && isTexts(refs) && (topics === undefined || isTexts(topics)),
  'feed.told': ({ node, facts: told, more }) =>
    isText(node) && Array.isArray(told) && told.every(isFact) && Number.isSafeInteger(more),
  'session.moved': ({ sessionId, state, endReason }) =>
    isText(sessionId) && isText(state) && (endReason === null || isText(endReason)),
  'node.here': ({ node, settings = {} }) =>
    operatorNode.safeParse(node).success && isRecord(settings) && Object.values(settings).every(isText),
  'node.gone': ({ id }) => isText(id),
  'calls.orphaned': () => true,
  'call.told': ({ sessionId, callId, event }) => isText(sessionId) && isText(callId) && isText(event),
  'quota.ending': ({ sessionId, endsAtMs }) => isText(sessionId) && Number.isFinite(endsAtMs),
  'quota.neared': ({ subject, after, entry }) => isText(subject) && isUsage(after) && isUsage(entry),
};

/** The message that a text is, or undefined. */
export function readMessage(text: string): BusMessage | undefined {
  const fields = parse(text);
  if (typeof fields?.['type'] !== 'string' || !Object.hasOwn(shapes, fields['type'])) return undefined;
  return shapes[fields['type'] as BusMessage['type']](fields) ? (fields as unknown as BusMessage) : undefined;
}

function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}
