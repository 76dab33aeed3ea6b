import { fileURLToPath } from 'node:url';

/** The part of the SDK's types that is usable outside a browser. */
export interface Sdk {
  readonly connect: (options: Readonly<Record<string, unknown>>) => Promise<Session>;
}

export interface Session {
  readonly id: string;
  readonly state: string;
  readonly transport: string;
  readonly idleSec: number;
  readonly on: (type: string, listener: (event: Readonly<Record<string, unknown>>) => void) => () => void;
  readonly active: () => void;
  readonly reportUsage: (report: object) => Promise<Readonly<Record<string, unknown>>>;
  readonly connectAudio: (options?: object) => Promise<unknown>;
  readonly connectText: (options?: object) => Promise<unknown>;
  readonly muted: boolean;
  readonly mute: (on?: boolean) => void;
  readonly devices: () => Promise<readonly unknown[]>;
  readonly setDevice: (deviceId: string) => Promise<void>;
  readonly send: (text: string) => void;
  readonly interrupt: () => void;
  readonly talk: (on: boolean) => void;
  readonly agent: Readonly<Record<string, unknown>> | undefined;
  readonly end: () => Promise<void>;
}

/** The SDK as it is served to pages. */
export function loadSdk(): Promise<Sdk> {
  return import(fileURLToPath(new URL('../../dist/web/widget.mjs', import.meta.url))) as Promise<Sdk>;
}

const types = [
  'state',
  'beat',
  'transport',
  'media',
  'call',
  'heard',
  'level',
  'speaking',
  'transcript',
  'speech',
  'thinking',
  'tool',
  'warning',
  'usage',
  'ended',
  'error',
];

/** Keeps all events of a session, in order. */
export function record(
  session: Session,
): { readonly type: string; readonly event: Readonly<Record<string, unknown>> }[] {
  const events: { type: string; event: Readonly<Record<string, unknown>> }[] = [];
  for (const type of types) session.on(type, (event) => events.push({ type, event }));
  return events;
}
