import { createHmac } from 'node:crypto';
import { BlockList } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** A short keyed hash for each variable that is set or has a default. */
export type SettingHashes = Readonly<Record<string, string>>;

/** Settings that may differ between processes of one installation; `shown` and `values` repeat the other settings. */
const OWN = new Set(['host', 'port', 'shown', 'values']);
const OWN_VARIABLES = new Set(['HOST', 'PORT']);

/**
 * A hash of the settings with the installation's key: it differs between processes whose settings differ, even if only in a secret, and
 * without the key nobody can test which settings it stands for.
 */
export function hashConfig(config: object, installationKey: Buffer): string {
  const shared = Object.fromEntries(Object.entries(config).filter(([name]) => !OWN.has(name)));
  const text = JSON.stringify(inOrder(shared));
  return createHmac('sha256', installationKey).update(`config ${text}`).digest('hex').slice(0, 12);
}

/** A hash for each variable, by name: shows which of them differ without showing their values. */
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

/** The value with the fields of all objects sorted. */
function inOrder(value: unknown): unknown {
  if (value instanceof BlockList) return [...value.rules].sort();
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([name, inner]) => [name, inOrder(inner)])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}

const RESOLUTION_MS = 20;

/** Measures how late the event loop is. */
export type LoopDelay = ReturnType<typeof createLoopDelay>;

/** Call it at most once per process: its timer runs until the process ends. */
export function createLoopDelay() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    /** The 99th percentile since the last call, in milliseconds. */
    p99Ms(): number {
      // The histogram holds the time between samples, so an idle loop shows the resolution.
      const late = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
      histogram.reset();
      return Math.round(late * 10) / 10;
    },
  };
}
