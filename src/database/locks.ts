/**
 * The advisory locks of the service: numbers that no other user of the same database takes. The numbers must not change: processes of an older build
 * wait for the same ones.
 */
export const LOCKS = { migrations: 727_001, sessionTally: 727_002, holdSums: 727_003 } as const;

/** Locks with two numbers, of which this is the first. PostgreSQL keeps them apart from locks with one number. */
export const LOCK_CLASSES = { keySlots: 727_002, webhooks: 727_003, budgets: 727_004, savedViews: 727_005 } as const;
