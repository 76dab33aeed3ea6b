import { z } from 'zod';
import { clientSecret } from './create.ts';
import { sessionProof } from './session.ts';

/** The body of POST /api/realtime/ticket (docs/contract.md, section 5.11). */
export const ticketRequest = sessionProof;

/** Its reply. */
export const ticketReply = z.object({ client_secret: clientSecret });
