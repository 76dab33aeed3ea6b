import { Refusal } from '../../protocol/refusal.ts';
import type { Step } from '../request-context.ts';
import type { Services } from '../services.ts';
import { preflightHeaders } from './origin.ts';

/** Answers requests without a handler: unknown paths, methods that a path does not have, and preflights. */
export function createMethodCheck({ origins }: Pick<Services, 'origins'>): Step {
  return ({ request: { headers, method, path }, endpoint: { allow, cors }, origin }) => {
    if (allow === '') return new Refusal('NOT_FOUND', `There is no ${path.slice(0, 200)}; see /docs for all paths.`);
    if (method !== 'OPTIONS') return new Refusal('METHOD_NOT_ALLOWED', `${method} is not possible here; use ${allow}.`);
    const allowed = preflightHeaders(origins, origin, cors, allow, headers['access-control-request-headers']);
    return { status: 204, body: '', headers: [['Allow', allow], ...allowed] };
  };
}
