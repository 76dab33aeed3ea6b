import { awaitedLater } from '../../kernel/eventually.ts';
import type { CreateDeps, CreateStep, OpeningBegun } from './context.ts';

/**
 * Saves what the session is created with, before anybody can open a call of it. Of a session whose page opens its calls itself only what
 * its creator noted on it is of use later. It is not given back: without a session nobody reads it, and it is deleted like any other.
 */
export const saveSetup: CreateStep = {
  name: 'setup',
  take({ config, opening }: OpeningBegun, { stores }: Pick<CreateDeps, 'stores'>) {
    const { callMode, model, voice, tools, dataChannel, isLocked, price, metadata, instructions = null } = config;
    if (callMode === 'direct' && metadata === null) return undefined;
    const { sessionId, atMs: createdAtMs } = opening;
    const terms = { callMode, model, voice, tools, dataChannel, isLocked, price, metadata, instructions };
    opening.setupSaved = awaitedLater(stores.sessionSetups.insert({ sessionId, ...terms, createdAtMs }));
    // A provider is asked when nothing else can fail any more; a ticket is nobody's before the answer, and need not wait.
    return callMode === 'direct' ? opening.setupSaved : undefined;
  },
};
