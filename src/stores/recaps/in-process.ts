import type { AtOnce } from '../../kernel/async.ts';
import type { Recaps } from './contract.ts';

/** Recaps in this process's memory. */
export function createInProcessRecaps(): AtOnce<Recaps> {
  /** In the order in which they were kept, so that expired ones come first. */
  const recaps = new Map<string, { readonly sealed: string; readonly untilMs: number }>();
  return {
    keep(sessionId, sealed, untilMs, atMs) {
      for (const [id, recap] of recaps) {
        if (recap.untilMs > atMs) break;
        recaps.delete(id);
      }
      recaps.delete(sessionId);
      recaps.set(sessionId, { sealed, untilMs });
    },

    find(sessionId, atMs) {
      const recap = recaps.get(sessionId);
      return recap !== undefined && recap.untilMs > atMs ? recap.sealed : undefined;
    },

    forget: (sessionId) => recaps.delete(sessionId),
  };
}
