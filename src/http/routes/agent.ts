import { agentQuery, agentReply } from '../../protocol/create.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { readQuery } from '../query.ts';
import { defineRoute, type Result, type Route } from '../route.ts';
import type { Services } from '../services.ts';

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
