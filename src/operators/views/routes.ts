import { z } from 'zod';
import type { Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { randomId } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import {
  deleteViewReply,
  type OperatorView,
  savedViews,
  saveViewReply,
  saveViewRequest,
} from '../../protocol/operator/view.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { SavedView } from '../../stores/saved-views/contract.ts';
import { type Operator, seesTenant, tenantsOf } from '../roles.ts';
import { noTenant, operatorRoute } from '../route.ts';

/** How many views one operator has at most. */
const MAX_VIEWS = 50;

const exampleView: OperatorView = {
  id: 'view_Jm4c0Vb1T2yq8s5nXk9ZwA',
  name: 'Stale at acme',
  href: '/console/sessions?state=stale&tenantId=acme',
  tenantId: 'acme',
  isOwn: true,
  createdAt: '2030-01-01T12:00:00.000Z',
};

/** The views that an operator saved, and those of the tenants that they are shown. */
export function viewsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/views',
    operationId: 'listViews',
    summary: 'Filters of lists that were saved under names: one’s own, and those of one’s tenants',
    replies: { 200: { description: 'The views', schema: savedViews, example: { views: [exampleView] } } },
    handle: async ({ operator }) => {
      const owner = ownerOf(operator, services);
      const views = await services.core.stores.savedViews.list(owner, tenantsOf(operator));
      return { status: 200, body: { views: views.map((view) => toOperatorView(view, owner)) } };
    },
  });
}

/** Saves a view, in the place of another of the same name. */
export function saveViewRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/views',
    operationId: 'saveView',
    summary: 'Save a filter of a list under a name, for oneself or for a tenant',
    description: `It takes the place of one’s own view of the same name. One operator has at most ${MAX_VIEWS}; a view shows nobody more than they are shown without it.`,
    body: saveViewRequest,
    bodyExample: { name: exampleView.name, href: exampleView.href, tenantId: 'acme' },
    replies: { 201: { description: 'It is kept', schema: saveViewReply, example: { view: exampleView } } },
    refusals: ['ORIGIN_MISMATCH', 'NOT_FOUND', 'CONFLICT'],
    handle: async ({ operator, request, body: { name, href, tenantId = null } }) => {
      if (tenantId !== null && (!seesTenant(operator, tenantId) || services.tenants.tenant(tenantId) === undefined))
        return noTenant(tenantId);
      const owner = ownerOf(operator, services);
      const view = { id: `view_${randomId()}`, owner, tenantId, name, href, createdAtMs: request.atMs };
      const kept = await services.core.stores.savedViews.save(view, MAX_VIEWS);
      if (kept === undefined) return new Refusal('CONFLICT', `You have ${MAX_VIEWS} views: delete one first.`);
      return { status: 201, body: { view: toOperatorView(kept, owner) } };
    },
  });
}

const viewParams = z.object({
  id: z.string().meta({ description: 'The id of the view', examples: [exampleView.id] }),
});

/** Deletes a view of whoever asks. */
export function deleteViewRoute(services: Services): Route {
  return operatorRoute({
    method: 'DELETE',
    path: '/api/operator/views/{id}',
    operationId: 'deleteView',
    summary: 'Delete a view that one saved',
    params: viewParams,
    replies: { 200: { description: 'It is deleted', schema: deleteViewReply, example: { ok: true } } },
    refusals: ['ORIGIN_MISMATCH', 'NOT_FOUND'],
    handle: async ({ operator, params: [id = ''] }) => {
      const isDeleted = await services.core.stores.savedViews.delete(ownerOf(operator, services), id);
      return isDeleted
        ? { status: 200, body: { ok: true } }
        : new Refusal('NOT_FOUND', 'You saved no such view; GET /api/operator/views names those that there are.');
    },
  });
}

function ownerOf({ actor }: Operator, { identity }: Services): string {
  return identity.subjects.console(actor);
}

function toOperatorView({ createdAtMs, owner, ...view }: SavedView, self: string): OperatorView {
  return { ...view, isOwn: owner === self, createdAt: iso(createdAtMs) };
}
