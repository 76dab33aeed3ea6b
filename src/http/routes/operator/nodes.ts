import { iso } from '../../../kernel/time.ts';
import type { NodeList } from '../../../node/nodes.ts';
import { operatorNodes, type OperatorNode } from '../../../protocol/operator/node.ts';
import { defineRoute, type Route } from '../../route.ts';
import { alwaysRefused, noParameters, TAG, withQuery } from './named.ts';

export interface NodesDeps {
  readonly nodes: Pick<NodeList, 'list' | 'differing'>;
}

export const exampleNode: OperatorNode = {
  id: 'Jm4c0Vb1T2yq8s5nXk9ZwA',
  host: 'voice-2',
  pid: 1,
  version: '0.1.0',
  startedAt: '2029-12-29T12:00:00.000Z',
  seenAt: '2030-01-01T12:00:00.000Z',
  loopP99Ms: 4.1,
  rss: 220_200_960,
  sockets: 6801,
  historyWaiting: 41,
  eventsWaiting: 3,
  eventsDropped: 0,
  clockLeadMs: 0,
  configHash: '9c3b6e5f0a1d',
  dependencies: [
    { name: 'database', state: 'ok', latencyMs: 1.9, since: '2029-12-29T12:00:00.000Z', lastError: null },
    { name: 'registry', state: 'ok', latencyMs: 0.7, since: '2029-12-29T12:00:00.000Z', lastError: null },
    { name: 'mail', state: 'ok', latencyMs: null, since: '2029-12-29T12:00:00.000Z', lastError: null },
    { name: 'provider', state: 'ok', latencyMs: null, since: '2029-12-29T12:00:00.000Z', lastError: null },
  ],
};

/** The processes of the installation, from memory: it is answered in outages. */
export function nodesRoute({ nodes }: NodesDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/api/operator/nodes',
    operationId: 'listNodes',
    summary: 'The processes that are here, as each told of itself within 15 seconds',
    tag: TAG,
    access: 'operator',
    right: 'see-installation',
    replies: {
      200: {
        description: 'The processes, in the order in which they started',
        schema: operatorNodes,
        example: { nodes: [exampleNode], differs: [], asOf: '2030-01-01T12:00:01.000Z' },
      },
    },
    refusals: [...alwaysRefused],
    handle: (call) =>
      withQuery(call, noParameters, async () => ({
        status: 200,
        body: { nodes: nodes.list(), differs: nodes.differing(), asOf: iso(call.request.atMs) },
      })),
  });
}
