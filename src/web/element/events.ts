import type { SessionEvents } from '../widget/api.ts';

/** The events of the SDK that the element hears, and passes on to the page. */
export const EVENTS = [
  'state',
  'beat',
  'transport',
  'media',
  'call',
  'level',
  'speaking',
  'transcript',
  'speech',
  'thinking',
  'tool',
  'heard',
  'warning',
  'usage',
  'ended',
  'error',
] as const satisfies readonly (keyof SessionEvents)[];
