import type { CreateReply } from '../../protocol/create.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import type { Why } from '../../protocol/refusal-why.ts';
import {
  beginWeighing,
  checkOrigin,
  chooseConfig,
  findTenant,
  nameCaller,
  refreshDirectory,
  refuseBot,
  refuseContext,
  refusePaused,
  refuseStopped,
  refuseTools,
  requireLogin,
} from './admit-caller.ts';
import { runSteps, whoseOf, type CreateContext, type CreateDeps, type CreateInput, type CreateStep } from './step.ts';
import { confirmKey, confirmQuota, holdCall, issueSecret, makeReply, register } from './make-session.ts';
import { beginOpening, countKey, countSubject, countTenant, refuseSpent, takeKeySlot, takeSlot } from './limits.ts';
import { claimReply, keepReply } from './once-per-key.ts';
import { closeFormerPage, findResumed, spendResumeToken } from './resume.ts';

/**
 * The rules of a create in their order, which is part of the contract (docs/contract.md, section 4.1): of several that would refuse the first one
 * does, and what a later one would take is not spent. What costs nothing comes first; what is taken from others comes as late as can be.
 */
export const CREATE_STEPS: readonly CreateStep[] = [
  refreshDirectory,
  requireLogin,
  findTenant,
  checkOrigin,
  refuseStopped,
  refusePaused,
  nameCaller,
  refuseContext,
  refuseTools,
  chooseConfig,
  beginWeighing,
  claimReply,
  refuseBot,
  beginOpening,
  countSubject,
  countKey,
  countTenant,
  refuseSpent,
  takeSlot,
  takeKeySlot,
  issueSecret,
  register,
  holdCall,
  confirmQuota,
  confirmKey,
  makeReply,
  keepReply,
];

const COUNTING: ReadonlySet<CreateStep> = new Set([
  countSubject,
  countKey,
  countTenant,
  refuseSpent,
  takeSlot,
  takeKeySlot,
]);

/** Those of the rules that count, in their order: what a limit, a ceiling or a budget decides. */
export const COUNTING_STEPS = CREATE_STEPS.filter((step) => COUNTING.has(step));

/**
 * The rules of a create that goes on with a session (docs/contract.md, section 5.13): those of its caller, and then its token. It opens
 * nothing, so it counts in no window and no total, takes no slot, and a paused key does not refuse it.
 */
const RESUME_STEPS: readonly CreateStep[] = [
  refreshDirectory,
  requireLogin,
  findTenant,
  checkOrigin,
  refuseStopped,
  nameCaller,
  claimReply,
  refuseBot,
  findResumed,
  spendResumeToken,
  closeFormerPage,
  makeReply,
  keepReply,
];

/**
 * Opens a session, or goes on with one, or finds the reply of the same request that came before.
 * @returns the reply, or the refusal with whose it is
 * @throws Unavailable when a store is away; what was taken is given back then too
 */
export async function createSession(input: CreateInput, deps: CreateDeps): Promise<CreateReply | Refusal> {
  const isNew = input.body.resume === undefined;
  const trace = isNew ? deps.traces?.begin(input) : undefined;
  const context: CreateContext = { input, trace };
  const steps = isNew ? CREATE_STEPS : RESUME_STEPS;
  const refusal = await runSteps(
    steps,
    context,
    deps,
    (fault) => deps.events.faulted(fault, undefined, 'give back after a refused create'),
    trace && ((step) => trace.enter(step)),
  );
  if (refusal !== undefined) {
    noteTrouble(refusal, input, deps);
    return refusal.because(whoseSoFar(context));
  }
  if (context.reply === undefined) throw new Error('no step of a create made its reply');
  return context.reply;
}

/** What says nothing of who asks: a challenge, or what operators and other pages have done. */
const NO_TROUBLE: ReadonlySet<string> = new Set(['BOT_BLOCKED', 'KEY_PAUSED', 'SERVICE_STOPPED', 'RESUME_REFUSED']);

/** An address that was refused is suspect for a while; that of a back end says nothing of its visitors. */
function noteTrouble(
  { code, status }: Refusal,
  { isService, addressScope, request }: CreateInput,
  { suspects }: Pick<CreateDeps, 'suspects'>,
): void {
  if (status < 500 && !isService && !NO_TROUBLE.has(code)) suspects.noteTrouble(addressScope, request.atMs);
}

/** Whose a refused create is, as far as its steps came. */
function whoseSoFar({ caller, key }: CreateContext): Why {
  if (caller !== undefined) return whoseOf(caller);
  return key == null ? {} : { tenantId: key.tenantId, keyId: key.id };
}
