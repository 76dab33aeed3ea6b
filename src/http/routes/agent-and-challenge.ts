import { agentQuery, agentReply } from '../../protocol/create.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { readQuery } from '../query.ts';
import { defineRoute, type Result, type Route } from '../route.ts';
import type { Services } from '../services.ts';
import { altchaChallenge, challengeQuery } from '../../protocol/challenge.ts';
import { addressScope } from '../steps/rate-limit.ts';

/** GET /api/realtime/agent (docs/contract.md, section 5.15). */
export function agentRoute({ describeAgent }: Pick<Services, 'describeAgent'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/realtime/agent',
    operationId: 'getAgent',
    summary: 'Get what a page needs to know about an agent',
    description:
      'Ask before a conversation whether visitors must be told that they speak with an AI, whether there are captions, whether the agent speaks first, whether visitors hold a button to speak, and how the element looks and speaks for the agent. The reply is the same for everybody and may be cached for a minute.',
    tag: 'Voice sessions',
    access: 'public',
    cors: 'widgets',
    query: agentQuery,
    replies: {
      200: {
        description: 'What the page needs to know about the agent',
        schema: agentReply,
        example: { agent: { captions: true, greets: true, push: false, tellAi: true } },
      },
    },
    refusals: ['INVALID_WIDGET_KEY', 'ORIGIN_MISMATCH', 'FORBIDDEN'],
    handle({ request, origin }): Result {
      const asked = readQuery(request.query, agentQuery);
      if (asked instanceof Refusal) return asked;
      const agent = describeAgent({ ...asked, origin });
      if (agent instanceof Refusal) return agent;
      return { status: 200, body: { agent }, headers: [['Cache-Control', 'public, max-age=60']] };
    },
  });
}

/** GET /api/realtime/challenge (docs/contract.md, section 5.16). */
export function challengeRoute({ issueChallenge }: Pick<Services, 'issueChallenge'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/realtime/challenge',
    operationId: 'getCreateChallenge',
    summary: 'Get a proof of work for a create',
    description:
      'For a page whose create was refused with an `altcha` challenge: ALTCHA, proof of work version 1. The solution is valid for this widget key, for five minutes and once. The reply is 404 if challenges come from another provider.',
    tag: 'Voice sessions',
    // Not `public`: no cache may give two pages the same challenge.
    access: 'proof',
    cors: 'widgets',
    query: challengeQuery,
    replies: {
      200: {
        description: 'The proof of work to compute',
        schema: altchaChallenge,
        example: {
          algorithm: 'SHA-256',
          challenge: '37b5bd8f2ee9f0fa4b6ea4d9a8b5c7a1f7b2b1f19e5dd9b35e6f9b4a7d1c2e60',
          maxnumber: 250_000,
          salt: '5yFq0kVx3v8Jr1zJt0cWbA.Qm9vdGhzIGFyZSBt?expires=1893499560&',
          signature: '0d4c3b7f1b6a8c2f9d2e7a5b4c1d0e9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d',
        },
      },
    },
    refusals: ['INVALID_WIDGET_KEY', 'ORIGIN_MISMATCH', 'NOT_FOUND'],
    handle({ request, origin, ip, limit: window }): Result {
      const asked = readQuery(request.query, challengeQuery);
      if (asked instanceof Refusal) return asked;
      const { headers, atMs } = request;
      const work = issueChallenge({ ...asked, origin, headers, addressScope: addressScope(ip), window, atMs });
      return work instanceof Refusal ? work : { status: 200, body: work };
    },
  });
}
