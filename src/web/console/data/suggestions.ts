/** Suggestions for filters: the tenants that the operator may see, with their keys and agents. */
import { signal } from '@preact/signals';
import { get } from './api.ts';
import type { Keys } from './shapes.ts';
import { me } from './identity.ts';
import { MINUTE_MS } from './durations.ts';

export type Suggested = 'tenant' | 'key' | 'agent';

const MAX_SUGGESTED = 200;
const MAX_AGE_MS = MINUTE_MS;
const keys = signal<Keys | undefined>(undefined);
let readAtMs = -Infinity;
let isReading = false;

/**
 * Reads them when somebody is about to choose, unless they are at most a minute old. No list waits for them, and without them anything can be
 * typed.
 */
export async function readSuggestions(): Promise<void> {
  if (isReading || Date.now() - readAtMs < MAX_AGE_MS) return;
  isReading = true;
  const answer = await get<Keys>('/api/operator/keys');
  isReading = false;
  if (!answer.ok) return;
  keys.value = answer.body;
  readAtMs = Date.now();
}

/** @param tenantId the tenant whose keys and agents to suggest; empty for all tenants */
export function suggestionsOf(what: Suggested, tenantId: string): readonly string[] {
  const isShown = (id: string): boolean => tenantId === '' || id === tenantId;
  const { tenants = [], keys: known = [] } = keys.value ?? {};
  const named = {
    tenant: () => (keys.value?.tenants ?? me.value?.tenantNames ?? []).map(({ id }) => id),
    key: () => known.filter((key) => isShown(key.tenantId)).map(({ id }) => id),
    agent: () => tenants.filter(({ id }) => isShown(id)).flatMap(({ agents }) => agents),
  };
  return [...new Set(named[what]())].toSorted().slice(0, MAX_SUGGESTED);
}
