import type { Clock } from '../kernel/clock.ts';
import type { FormerTables } from '../stores/journal/former-tables.ts';

/** One round carries at most this many chunks of each table: the embedded database does nothing else meanwhile. */
const CHUNKS_A_ROUND = 10;

/** Carries a part of what older builds wrote into the journal. @throws Unavailable when the database is away; the next round goes on */
export async function carryOver(former: FormerTables, clock: Clock): Promise<void> {
  for (let chunk = 0; chunk < CHUNKS_A_ROUND && (await former.carrySome(clock.now())); chunk += 1);
}
