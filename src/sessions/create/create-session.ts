import { Disposables } from '../../kernel/async.ts';
import type { CreateReply } from '../../protocol/create.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Why } from '../../protocol/errors/error-row.ts';
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
import {
  ANSWERED,
  whoseOf,
  type CountingStep,
  type CreateContext,
  type CreateDeps,
  type CreateInput,
  type CreateStep,
  type Step,
} from './step.ts';
import { describeAgent, issueChallenge, type AgentQuestion, type WorkRequest } from './agent-and-challenge.ts';
import { confirmKey, confirmQuota, holdCall, issueSecret, makeReply, register } from './make-session.ts';
import {
  beginOpening,
  countKey,
  countSubject,
  countTenant,
  refuseSpent,
  takeKeySlot,
  takeSlot,
} from './rate-and-concurrency-limits.ts';
import { claimReply, keepReply } from './idempotency-key.ts';
import { awaitCall, closeFormerPage, findResumed, noteSeen, spendResumeToken } from './resume.ts';

/** The rules that count, in their order: limits, ceilings and budgets. */
export const COUNTING_STEPS: readonly CountingStep[] = [
  countSubject,
  countKey,
  countTenant,
  refuseSpent,
  takeSlot,
  takeKeySlot,
];

/**
 * The rules of a create in their order, which is part of the contract (docs/contract.md, section 4.1): if several would refuse, the first one does,
 * and what a later one would take is not spent. What costs nothing comes first; what takes from others comes as late as possible.
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
  ...COUNTING_STEPS,
  issueSecret,
  register,
  holdCall,
  confirmQuota,
  confirmKey,
  makeReply,
  keepReply,
];

/**
 * The rules of a create that continues a session (docs/contract.md, section 5.13): those about its caller, then its token. It opens nothing, so it
 * counts in no window and no total, takes no slot, and is not refused for a paused key.
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
  awaitCall,
  spendResumeToken,
  noteSeen,
  closeFormerPage,
  makeReply,
  keepReply,
];

export type Creates = ReturnType<typeof openCreates>;

/** Creating sessions, as routes see it: the create itself, and what pages ask for before one. */
export function openCreates(deps: CreateDeps) {
  return {
    createSession: (input: CreateInput) => createSession(input, deps),
    describeAgent: (asked: AgentQuestion) => describeAgent(asked, deps),
    issueChallenge: (asked: WorkRequest) => issueChallenge(asked, deps),
  };
}

/**
 * Opens a session, continues one, or returns the reply of an earlier identical request.
 * @returns the reply, or the refusal with whose it is
 * @throws Unavailable when a store is away; what was taken is given back then too
 */
async function createSession(input: CreateInput, deps: CreateDeps): Promise<CreateReply | Refusal> {
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

/**
 * Runs the steps in order until one refuses, throws or has the reply. After a refusal or a fault everything that was taken is given back, each once
 * and the last first. Only promises are awaited: where a step answers at once, the next one follows at once.
 * @param onFault hears why something could not be given back; that changes neither what else is given back nor the outcome
 * @param onStep hears the name of each step before it runs
 * @returns the refusal; undefined when the request passed, or its reply was found
 * @throws what a step threw
 */
export async function runSteps<C, D>(
  steps: readonly Step<C, D>[],
  context: C,
  deps: D,
  onFault: (fault: unknown) => void,
  onStep?: (name: string) => void,
): Promise<Refusal | undefined> {
  const taken = new Disposables(onFault);
  try {
    for (const step of steps) {
      onStep?.(step.name);
      const answer = step.take(context, deps);
      const outcome = answer instanceof Promise ? await answer : answer;
      if (outcome === ANSWERED) return undefined;
      if (outcome instanceof Refusal) {
        await taken.dispose();
        return outcome;
      }
      if (outcome !== undefined) taken.add(() => step.undo?.(outcome, context, deps));
    }
    return undefined;
  } catch (fault) {
    await taken.dispose();
    throw fault;
  }
}

/** Refusals that say nothing about the caller: a challenge, or something that operators or other pages did. */
const NO_TROUBLE: ReadonlySet<string> = new Set(['BOT_BLOCKED', 'KEY_PAUSED', 'SERVICE_STOPPED', 'RESUME_REFUSED']);

/** Makes a refused address suspect for a while; a back end's address says nothing about its visitors. */
function noteTrouble(
  { code, status }: Refusal,
  { isService, addressScope, request }: CreateInput,
  { suspects }: Pick<CreateDeps, 'suspects'>,
): void {
  if (status < 500 && !isService && !NO_TROUBLE.has(code)) suspects.noteTrouble(addressScope, request.atMs);
}

/** Whose request was refused, as far as the steps found out. */
function whoseSoFar({ caller, key }: CreateContext): Why {
  if (caller !== undefined) return whoseOf(caller);
  return key == null ? {} : { tenantId: key.tenantId, keyId: key.id };
}
