import { mayChange } from '../data/identity.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { useResource } from '../data/resource.ts';
import { webhookPage } from '../data/links.ts';
import type { Webhook, Webhooks } from '../data/shapes.ts';
import { Page, Unread } from '../components/page.tsx';
import { Standing } from '../components/status-marks.tsx';
import { OpenButton } from '../components/modal.tsx';
import { Ago } from '../components/times.tsx';
import { useScope } from '../components/scope.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Empty, knownOf } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';
import { AddWebhookDialog } from './webhook-dialogs.tsx';

/** The state of a webhook endpoint. */
export function WebhookMark({ state }: Pick<Webhook, 'state'>) {
  const kind = state === 'healthy' ? 'on' : state === 'failing' ? 'bad' : 'off';
  return <Standing kind={kind}>{state}</Standing>;
}

/** The webhooks of the installation, and of all tenants or the one in the address. */
export function WebhooksPage() {
  const { tenantId } = useScope();
  const resource = useResource<Webhooks>('/api/operator/webhooks', { topics: ['audit'] }, { besideFeedMs: UNTOLD_MS });
  const found = knownOf(resource);
  if (found === undefined) return <Unread title="Webhooks" resource={resource} what="the webhooks" />;
  const webhooks = found.webhooks.filter((one) => tenantId === '' || one.tenantId === tenantId);
  return (
    <Page title="Webhooks" resource={resource}>
      <div class="title-row">
        <h1>Webhooks</h1>
        <span class="spring" />
        {mayChange.value && (
          <OpenButton verb="Add" kind="primary" opens={<AddWebhookDialog {...found} tenantId={tenantId} />} />
        )}
      </div>
      {webhooks.length === 0 ? (
        <Empty
          title="There is no webhook yet"
          hint="A server of yours can be told what happens: sessions that begin and end, calls, and what each cost."
        />
      ) : (
        <Table caption="Webhooks" columns={COLUMNS} rows={webhooks.map((row) => ({ key: row.id, row }))} />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: 'Address',
    sortBy: ({ url }) => url,
    style: 'text',
    isName: true,
    cell: ({ id, url }) => (
      <a class="break" href={webhookPage(id)}>
        {url}
      </a>
    ),
  },
  {
    title: 'Tenant',
    sortBy: ({ tenantId }) => tenantId,
    style: 'text',
    cell: ({ tenantId }) => tenantId ?? <span class="soft">installation</span>,
  },
  { title: 'State', sortBy: ({ state }) => state, cell: ({ state }) => <WebhookMark state={state} /> },
  { title: 'Waiting', sortBy: ({ waiting }) => waiting, style: 'number', cell: ({ waiting }) => countText(waiting) },
  { title: 'Is told', style: 'text', cell: ({ types }) => types.join(', ') },
  { title: 'Added', sortBy: ({ createdAt }) => createdAt, cell: ({ createdAt }) => <Ago at={createdAt} /> },
];
