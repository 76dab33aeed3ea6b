import type { Eventually } from '../kernel/eventually.ts';
import { refusalOfFault } from './error-reply.ts';
import type { HttpReply, HttpRequest } from './message.ts';
import type { RequestContext, Step } from './request-context.ts';
import type { Result } from './route.ts';
import { createAnswer, type AnswerDeps } from './steps/answer.ts';
import { readBody } from './steps/body.ts';
import { createLimits, type LimitDeps } from './steps/limit.ts';
import { createLogin, type LoginDeps } from './steps/login.ts';
import { createOriginCheck } from './steps/origin.ts';
import { createBegin, createMethodCheck, type BeginDeps } from './steps/route.ts';

export type PipelineDeps = BeginDeps & LimitDeps & LoginDeps & AnswerDeps;

/**
 * Answers requests by the route table, in the order of docs/contract.md, section 4. It is synchronous as long as every engine it
 * meets is, and makes nothing for a request but its context and its reply. It never throws and never rejects.
 */
export function createPipeline(deps: PipelineDeps): (request: HttpRequest) => Eventually<HttpReply> {
  const begin = createBegin(deps);
  const { countAddress, countUser } = createLimits(deps);
  const steps: readonly Step[] = [
    countAddress,
    createLogin(deps),
    countUser,
    createMethodCheck(deps),
    readBody,
    createOriginCheck(deps),
    handle,
  ];
  const answer = createAnswer(deps);

  function walk(x: RequestContext, from: number): Eventually<Result> {
    for (let at = from; at < steps.length; at += 1) {
      const result = steps[at]?.(x);
      if (result instanceof Promise) return result.then((found) => found ?? walk(x, at + 1));
      if (result !== undefined) return result;
    }
    throw new Error(`no step answered ${x.routeName}`);
  }

  function answerFault(x: RequestContext, fault: unknown): HttpReply {
    const { requestId } = x.request;
    deps.events.faulted(fault, requestId, x.routeName);
    return answer(x, refusalOfFault(fault, requestId));
  }

  return (request) => {
    const x = begin(request);
    try {
      const result = walk(x, 0);
      if (!(result instanceof Promise)) return answer(x, result);
      return result.then((found) => answer(x, found)).catch((fault: unknown) => answerFault(x, fault));
    } catch (fault) {
      return answerFault(x, fault);
    }
  };
}

function handle(x: RequestContext): Eventually<Result | undefined> {
  return x.route?.handle(x);
}
