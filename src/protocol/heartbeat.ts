import { z } from 'zod';
import { sessionProof } from './session.ts';
import { integer } from './field-types.ts';

/** Seconds since somebody last spoke, as far as the client knows. If the client does not send it, the heartbeat itself counts as activity. */
export const idleSec = integer(
  'seconds',
  0,
  'How long nobody has spoken, according to the client; if left out, the heartbeat itself counts as activity',
)
  .min(0)
  .optional();

/** The body of POST /api/realtime/heartbeat (docs/contract.md, section 5.6). */
export const heartbeatRequest = sessionProof.extend({ idleSec });

export type HeartbeatRequest = Readonly<z.infer<typeof heartbeatRequest>>;

/** How often a client should send a heartbeat. */
export const heartbeatInterval = z.object({
  intervalSec: integer('seconds', 45, 'How often clients send a heartbeat'),
});
