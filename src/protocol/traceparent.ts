import { z } from 'zod';
import { string } from './field-types.ts';

/** The header of a create that says which trace its session belongs to (docs/contract.md, section 5.1). */
export const traceparentHeader = z.object({
  traceparent: string(
    'The caller’s trace (W3C Trace Context): the session joins it if a service token is sent, otherwise its own trace links to it. A malformed value is ignored',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ).optional(),
});
