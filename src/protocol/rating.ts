import { z } from 'zod';
import { frameType } from './fields.ts';
import { sessionProof } from './session.ts';
import { integer } from './field-types.ts';

/** A visitor's rating of a conversation (docs/contract.md, section 5.18). */
export const rating = integer('none', 5, 'From 1 (bad) to 5 (good)').min(1).max(5);

/** The body of POST /api/realtime/rate. */
export const ratedSession = sessionProof.extend({ value: rating });

/** The frame that sends the same over a socket. */
export const rateFrame = z.object({ type: frameType('rate'), value: rating });
