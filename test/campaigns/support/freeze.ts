import { setTimeout as delay } from 'node:timers/promises';
import type { PostgresService } from '../../support/services/postgres.ts';
import type { Random } from '../faults/random.ts';

const FREEZE_EVERY_MS = { min: 8000, max: 20_000 };
/** Some freezes are shorter than the nodes' deadline for PostgreSQL, some longer. */
const FREEZE_MS = { min: 300, max: 4000 };
/** The nodes' deadline for PostgreSQL. */
export const deadline = { DATABASE_DEADLINE_MS: '1500' };

/** Stops PostgreSQL for a while, so that it looks like a hung machine. */
export async function freeze(database: PostgresService, random: Random): Promise<void> {
  database.freeze();
  await delay(random.between(FREEZE_MS.min, FREEZE_MS.max));
  database.thaw();
}

/** Freezes PostgreSQL again and again until the campaign is over. @returns how often */
export async function freezeNowAndThen(
  database: PostgresService,
  random: Random,
  state: { readonly isOver: boolean },
): Promise<number> {
  for (let freezes = 0; ; freezes += 1) {
    await delay(random.between(FREEZE_EVERY_MS.min, FREEZE_EVERY_MS.max));
    if (state.isOver) return freezes;
    await freeze(database, random);
  }
}
