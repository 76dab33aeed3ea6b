import { isQuiet } from './responses.ts';
import { hasNews, nextStep, savedStep } from './saving.ts';
import { mayDial } from './selectors.ts';
import type { HeldCallContext, HeldCallEvent } from './types.ts';

interface At {
  readonly context: HeldCallContext;
  readonly event: HeldCallEvent;
}

/** The record, where it is newer than what is known. */
function newerRecord({ context, event }: At) {
  return event.type === 'RECORD' && event.record.version > context.record.version ? event.record : undefined;
}

export const guards = {
  isClosed: (at: At) => newerRecord(at)?.state === 'closed',
  isAnothers: (at: At) => (newerRecord(at)?.fence ?? at.context.fence) !== at.context.fence,
  isNewer: (at: At) => newerRecord(at) !== undefined,
  isClosing: ({ context }: At) => context.record.state === 'closing',
  isToEnd: ({ context }: At) => context.end.said !== null || context.end.wanted !== null,
  isToGoOn: ({ context }: At) => context.end.said === null && context.end.wanted === null,
  needsSideband: ({ context }: At) => context.needsSideband,
  mayDial: ({ context, event }: At) => mayDial(context, event),
  mayHear: ({ event }: At) => event.type === 'CLOCK' && event.mayHear,
  // Nobody is told what a machine emits as it begins: what is to be saved then is saved from its first event on.
  hasNews: ({ context, event }: At) => (event.type as string) !== 'xstate.init' && hasNews(context),
  isBehind: ({ context }: At) => nextStep(context) !== undefined,
  isNothingToSave: ({ context }: At) => context.saving === null,
  hasNextStep: ({ context }: At) => nextStep(savedStep(context), context.saving?.step ?? null) !== undefined,
  hasMoreToSave: ({ context }: At) => context.isMoreToSave && nextStep(savedStep(context)) !== undefined,
  hasMoreToTry: ({ context }: At) => context.isMoreToSave,
  isStillBehind: ({ context }: At) => nextStep(savedStep(context)) !== undefined,
  isSavingOver: ({ context }: At) => context.saving?.step === 'over',
  isSaidOver: ({ context }: At) => context.record.overAtMs !== null,
  hasOpen: ({ context }: At) => !isQuiet(context.responses),
  isQuiet: ({ context }: At) => isQuiet(context.responses),
};
