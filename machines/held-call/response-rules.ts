import { inOrder, type Outcome } from './outcome.ts';
import { doneOf, heardOf, isQuiet, kindOf, overdueOf, runningOf, started, withCancelled } from './responses.ts';
import { charged } from './rules.ts';
import { changed, isStruckOut, struck } from './strikes.ts';
import type { HeldCallCommand, HeldCallContext, HeldCallEvent, Strikes } from './types.ts';

// What happens to responses: kept within what the page may have, cut off at the call's end, and charged where nobody told what they cost.

type Of<T extends HeldCallEvent['type']> = Extract<HeldCallEvent, { readonly type: T }>;

export function begun(call: HeldCallContext, { at, response, isAffordable }: Of<'RESPONSE_STARTED'>): Outcome {
  const { responses, terms } = call;
  const kind = kindOf(responses, terms, response);
  const isAdmitted = kind === 'ordinary' || (kind === 'extra' && isAffordable);
  return inOrder(
    { ...call, responses: started(responses, terms, response, at) },
    (present) => (isAdmitted ? [present, []] : cancelled(present, [response.id], at)),
    (present) => [isAdmitted && !responses.strikes.isChanged ? present : withStrikes(present, struck), []],
  );
}

/** Of a call that is to be over whatever begins is cut off. */
export function begunInVain(call: HeldCallContext, { at, response }: Of<'RESPONSE_STARTED'>): Outcome {
  const responses = started(call.responses, call.terms, response, at);
  return cancelled({ ...call, responses }, [response.id], at);
}

export function heardToSpeak(call: HeldCallContext, { at, id, tokens }: Of<'RESPONSE_HEARD'>): Outcome {
  const [responses, beganUnheard] = heardOf(call.responses, call.terms, id, tokens, at);
  const next = { ...call, responses };
  // What began while nobody heard the call was never compared with what the page may have.
  return beganUnheard ? cancelled(next, [id], at) : [next, []];
}

export function ended(call: HeldCallContext, { at, id, isTold }: Of<'RESPONSE_DONE'>): Outcome {
  const [next, charges] = charged(call, doneOf(call.responses, call.terms, id, isTold, at));
  return [next, isQuiet(next.responses) ? [...charges, { type: 'quiet' }] : charges];
}

/** The page changed its session, and is put back where it may change nothing. */
export function configChanged(call: HeldCallContext, { at, isAsSdk }: Of<'CONFIG_CHANGED'>): Outcome {
  if (!call.terms.isLocked) return [call, []];
  const isHeard = call.sideband.heardAtMs !== null;
  const next = withStrikes(call, (strikes) => ({ ...changed(strikes, isAsSdk, at), isRestoreDue: !isHeard }));
  return [next, isHeard ? [{ type: 'restoreConfig' }] : []];
}

/** What ran while nobody heard it is asked to end, and what the page changed meanwhile is put back. */
export function caughtUp(call: HeldCallContext, at: number): Outcome {
  const running = runningOf(call.responses).map(({ id }) => id);
  const [next, commands] = cancelled(call, running, at);
  if (!call.responses.strikes.isRestoreDue) return [next, commands];
  return [
    withStrikes(next, (strikes) => ({ ...strikes, isRestoreDue: false })),
    [...commands, { type: 'restoreConfig' }],
  ];
}

/** Cuts off all that runs, and what another node may have left. */
export function cutOff(call: HeldCallContext, at: number): Outcome {
  const { open, inherited } = call.responses;
  const ids = open.map(({ id }) => id);
  const [next, commands] = cancelled(call, ids, at);
  const isHeard = call.sideband.heardAtMs !== null;
  return [next, isHeard && inherited > 0 ? [...commands, { type: 'cancelResponse', id: undefined }] : commands];
}

/** Charges what was asked to end, and is not answered. */
export function overdueCharged(call: HeldCallContext, at: number): Outcome {
  return charged(call, overdueOf(call.responses, call.terms, at));
}

/** Whether the page did again and again what it may not. */
export function isTampered(before: HeldCallContext, after: HeldCallContext): boolean {
  return isStruckOut(before.responses.strikes, after.responses.strikes);
}

/** Nobody can be asked while nobody hears the call. */
function cancelled(call: HeldCallContext, ids: readonly string[], at: number): Outcome {
  if (call.sideband.heardAtMs === null || ids.length === 0) return [call, []];
  const commands = ids.map((id): HeldCallCommand => ({ type: 'cancelResponse', id }));
  return [{ ...call, responses: withCancelled(call.responses, ids, at) }, commands];
}

function withStrikes(call: HeldCallContext, change: (strikes: Strikes) => Strikes): HeldCallContext {
  const { responses } = call;
  return { ...call, responses: { ...responses, strikes: change(responses.strikes) } };
}
