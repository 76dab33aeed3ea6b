import { createHmac } from 'node:crypto';
import { BlockList } from 'node:net';

/** A short keyed hash for each variable that is set, or has a default. */
export type SettingHashes = Readonly<Record<string, string>>;

/** What processes of one installation may well have each its own; `shown` and `values` are the same settings once more. */
const OWN = new Set(['host', 'port', 'shown', 'values']);
const OWN_VARIABLES = new Set(['HOST', 'PORT']);

/**
 * A hash of settings, under the installation's key: processes that are set otherwise have another, also where only a secret differs, and
 * without the key nobody can try which settings it stands for.
 */
export function hashConfig(config: object, installationKey: Buffer): string {
  const shared = Object.fromEntries(Object.entries(config).filter(([name]) => !OWN.has(name)));
  const text = JSON.stringify(inOrder(shared));
  return createHmac('sha256', installationKey).update(`config ${text}`).digest('hex').slice(0, 12);
}

/** The same of each variable by itself, by name: which of them differ is seen by these, and what they are is not. */
export function hashSettings(values: ReadonlyMap<string, unknown>, installationKey: Buffer): SettingHashes {
  const hashOf = (name: string, value: unknown): string =>
    createHmac('sha256', installationKey)
      .update(`setting ${name} ${JSON.stringify(inOrder(value))}`)
      .digest('hex')
      .slice(0, 8);
  return Object.fromEntries(
    [...values].flatMap(([name, value]) => (OWN_VARIABLES.has(name) ? [] : [[name, hashOf(name, value)]])),
  );
}

/** The value with the fields of all objects in their order. */
function inOrder(value: unknown): unknown {
  if (value instanceof BlockList) return [...value.rules].sort();
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([name, inner]) => [name, inOrder(inner)])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}
