import { z } from 'zod';
import type { Call, Route } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { randomId } from '../../kernel/ids.ts';
import { iso } from '../../kernel/time.ts';
import { type OperatorView, savedViews, saveViewReply, saveViewRequest } from '../../protocol/operator/view.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { done, string } from '../../protocol/fields.ts';
import type { SavedView } from '../../stores/saved-views/contract.ts';
import { act } from '../journal/acts.ts';
import { mayDo, type Operator, seesTenant, tenantsOf } from '../roles.ts';
import { actBy, noTenant, operatorRoute } from '../operator-route.ts';

/** The most views that one operator may save. */
const MAX_VIEWS = 50;

const SHARES_NOTHING = 'Your role changes nothing for others: leave tenantId out, and the view is yours alone.';

const exampleView: OperatorView = {
  id: 'view_Jm4c0Vb1T2yq8s5nXk9ZwA',
  name: 'Stale at acme',
  href: '/console/sessions?state=stale&tenantId=acme',
  tenantId: 'acme',
  isOwn: true,
  createdAt: '2030-01-01T12:00:00.000Z',
};

export function viewsRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/views',
    operationId: 'listViews',
    summary: 'List saved views: your own, and those of your tenants',
    reply: { description: 'The views', schema: savedViews, example: { views: [exampleView] } },
    handle: async ({ operator }) => {
      const owner = ownerOf(operator, services);
      const views = await services.core.stores.savedViews.list(owner, tenantsOf(operator));
      return { views: views.map((view) => toOperatorView(view, owner)) };
    },
  });
}

export function saveViewRoute(services: Services): Route {
  return operatorRoute({
    method: 'POST',
    path: '/api/operator/views',
    operationId: 'saveView',
    summary: 'Save the filter of a list as a view, for yourself or for a tenant',
    description: `It replaces your own view of the same name. An operator can have ${MAX_VIEWS}; a view shows nobody more than they may see without it. A view for a tenant needs the right to change, and is audited.`,
    body: saveViewRequest,
    bodyExample: { name: exampleView.name, href: exampleView.href },
    reply: { status: 201, description: 'The view was saved', schema: saveViewReply, example: { view: exampleView } },
    refusals: ['NOT_FOUND', 'CONFLICT'],
    handle: async (call) => {
      const { operator, request, body } = call;
      const { name, href, tenantId = null } = body;
      if (tenantId !== null && !mayDo(operator.role, 'change')) return new Refusal('FORBIDDEN', SHARES_NOTHING);
      if (tenantId !== null && (!seesTenant(operator, tenantId) || services.tenants.tenant(tenantId) === undefined))
        return noTenant(tenantId);
      const owner = ownerOf(operator, services);
      const view = { id: `view_${randomId()}`, owner, tenantId, name, href, createdAtMs: request.atMs };
      const { savedViews: store } = services.core.stores;
      const former = (await store.list(owner, [])).find((own) => own.name === name);
      const kept = await toldIfShared(
        'view.save',
        { name, tenantId: tenantId ?? former?.tenantId },
        call,
        services,
        () => store.save(view, MAX_VIEWS),
      );
      if (kept === undefined) return new Refusal('CONFLICT', `You have ${MAX_VIEWS} views: delete one first.`);
      return { view: toOperatorView(kept, owner) };
    },
  });
}

const viewParams = z.object({ id: string('The id of the view', exampleView.id) });

/** Deletes the operator's own view, or one shared with a tenant that they may change, because whoever saved it may have left. */
export function deleteViewRoute(services: Services): Route {
  return operatorRoute({
    method: 'DELETE',
    path: '/api/operator/views/{id}',
    operationId: 'deleteView',
    summary: 'Delete a view of your own, or one saved for a tenant that you may change',
    params: viewParams,
    reply: { description: 'The view was deleted', schema: done, example: { ok: true } },
    refusals: ['NOT_FOUND'],
    handle: async (call) => {
      const { operator, params } = call;
      const { savedViews: store } = services.core.stores;
      const shared = mayDo(operator.role, 'change') ? tenantsOf(operator) : [];
      const views = await store.list(ownerOf(operator, services), shared);
      const view = views.find(({ id }) => id === params[0]);
      const isDeleted =
        view !== undefined &&
        (await toldIfShared('view.delete', view, call, services, async () => store.delete(view.owner, view.id)));
      return isDeleted
        ? { ok: true }
        : new Refusal(
            'NOT_FOUND',
            'There is no such view that you may delete; GET /api/operator/views names those that there are.',
          );
    },
  });
}

/** Changes a view. A change that others see is audited; a private view is a mere preference (docs/security.md). */
function toldIfShared<T>(
  action: 'view.save' | 'view.delete',
  { name, tenantId = null }: { readonly name: string; readonly tenantId?: string | null | undefined },
  call: Call,
  services: Services,
  change: () => Promise<T>,
): Promise<T | Awaited<T>> {
  if (tenantId === null) return change();
  const what = { action, target: name, tenantId };
  return act(what, actBy(call), services, change, (changed) => (changed ? 'done' : 'unchanged'));
}

function ownerOf({ actor }: Operator, { identity }: Services): string {
  return identity.subjects.console(actor);
}

function toOperatorView({ createdAtMs, owner, ...view }: SavedView, self: string): OperatorView {
  return { ...view, isOwn: owner === self, createdAt: iso(createdAtMs) };
}
