import type { Call, Journal } from '../../support/journal.ts';

/** When something was revoked, from outside or by its owner. */
export interface Revocation {
  /** When it was first requested; Infinity if never. */
  readonly askedAt: number;
  /** When it was first acknowledged. */
  readonly doneAt: number;
}

const never: Revocation = { askedAt: Infinity, doneAt: Infinity };

export type Revocations = (name: string | undefined) => Revocation;

/** When each key was revoked, by its id. */
export function keyRevocations(journal: Journal): Revocations {
  return revocations(journal, ['revokeKey'], 'keyId');
}

/** When each login ended, by its address; every address logs in once. */
export function loginEnds(journal: Journal): Revocations {
  return revocations(journal, ['logout', 'revokeLogin'], 'email');
}

function revocations(journal: Journal, calls: readonly Call[], field: 'keyId' | 'email'): Revocations {
  const found = new Map<string, Revocation>();
  for (const { about, sentAt, doneAt, outcome } of journal.of(...calls)) {
    const before = found.get(about[field] ?? '') ?? never;
    found.set(about[field] ?? '', {
      askedAt: Math.min(before.askedAt, sentAt),
      doneAt: Math.min(before.doneAt, outcome === 200 ? doneAt : Infinity),
    });
  }
  return (name) => found.get(name ?? '') ?? never;
}
