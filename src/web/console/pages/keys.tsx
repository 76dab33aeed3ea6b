import { queryText } from '../data/query.ts';
import type { OperatorKey } from '../../../protocol/operator/key.ts';
import { mayChange } from '../data/identity.ts';
import { keyPage, sessionsOf } from '../data/links.ts';
import type { Keys, KeyTenant } from '../data/shapes.ts';
import { useResource } from '../data/resource.ts';
import { Page, Unread } from '../components/page.tsx';
import { KeyStanding, Standing } from '../components/status-marks.tsx';
import { Matter, Matters } from '../components/matters.tsx';
import { OpenButton } from '../components/modal.tsx';
import { useScope } from '../components/scope.tsx';
import { Table, type Column } from '../components/table.tsx';
import { knownOf, NoTenant } from '../components/view-states.tsx';
import { moneyText } from '../../../protocol/money.ts';
import { countText, sumOf } from '../labels/format.ts';
import { warningWords, limitWords } from '../labels/keys.ts';
import { IssueKeyDialog } from './keys/issue-key-dialog.tsx';

/** The widget keys of all tenants, or of the one in the address. */
export function KeysPage() {
  const { tenantId } = useScope();
  // Read for all tenants, because the dialog lets the operator choose any of them.
  const resource = useResource<Keys>('/api/operator/keys', { topics: ['counts', 'audit'] });
  const keys = knownOf(resource);
  if (keys === undefined) return <Unread title="Keys" resource={resource} what="the keys" />;
  const shown = keys.tenants.filter(({ id }) => tenantId === '' || id === tenantId);
  return (
    <Page title="Keys" resource={resource}>
      <div class="title-row">
        <h1>Keys</h1>
        <span class="spring" />
        <a href={`/console/what-if${queryText({ tenantId })}`}>What if</a>
        {mayChange.value && keys.tenants.length > 0 && (
          <OpenButton
            verb="Issue"
            kind="primary"
            opens={<IssueKeyDialog tenants={keys.tenants} tenantId={tenantId} />}
          />
        )}
      </div>
      {shown.length === 0 && <NoTenant tenantId={tenantId} />}
      {/* Keys that are a free model for anyone who copies them. */}
      <Matters
        label="Open keys"
        of={keys.keys.filter((key) => key.warnings.length > 0 && shown.some(({ id }) => id === key.tenantId))}
        show={(key) => (
          <Matter key={`${key.tenantId}/${key.id}`} degree="watch" href={keyPage(key)}>
            {key.tenantId}/{key.id} is open: {warningWords(key.warnings)}
          </Matter>
        )}
        more={(count) => (count === 1 ? 'key is open, as marked below' : 'keys are open, as marked below')}
      />
      {shown.map((tenant) => (
        <TenantKeys key={tenant.id} tenant={tenant} keys={keys.keys.filter((key) => key.tenantId === tenant.id)} />
      ))}
    </Page>
  );
}

interface TenantKeysProps {
  readonly tenant: KeyTenant;
  readonly keys: readonly OperatorKey[];
}

function TenantKeys({ tenant: { id, name, agents, admins, totals, maxKeys }, keys }: TenantKeysProps) {
  const inUse = keys.filter(({ revokedAt }) => revokedAt === null).length;
  // Revoked keys come last; otherwise the order is kept.
  const rows = keys
    .toSorted((one, other) => Number(one.revokedAt !== null) - Number(other.revokedAt !== null))
    .map((key) => ({ key: `${key.tenantId}/${key.id}`, row: key, isPast: key.revokedAt !== null }));
  return (
    <section class="tenant" aria-label={name}>
      <div class="title-row">
        <h2>
          {name} <code class="soft">{id}</code>
        </h2>
        <span class="soft">
          {agents.length === 0 ? 'no agents' : `agents ${agents.join(', ')}`}
          {admins !== null && `; ${admins} ${admins === 1 ? 'admin' : 'admins'}`}
          {totals !== null && `; in all ${limitWords(totals)}`}
          {maxKeys !== null && `; ${countText(inUse)} of ${countText(maxKeys)} keys in use`}
        </span>
      </div>
      {rows.length === 0 ? (
        <p class="soft">It has no key: no website can talk to its agents.</p>
      ) : (
        <Table caption={`Keys of ${name}`} columns={COLUMNS} rows={rows} />
      )}
    </section>
  );
}

const COLUMNS: readonly Column<OperatorKey>[] = [
  { title: 'Key', sortBy: ({ id }) => id, style: 'text', cell: (key) => <a href={keyPage(key)}>{key.id}</a> },
  {
    title: 'State',
    cell: (key) => (
      <>
        <KeyStanding {...key} /> {key.warnings.length > 0 && <Standing kind="bad">open</Standing>}
      </>
    ),
  },
  { title: 'Origin', sortBy: ({ origin }) => origin, style: 'text', cell: ({ origin }) => origin },
  { title: 'Agents', style: 'text', cell: ({ agents }) => (agents === null ? 'any' : agents.join(', ') || 'none') },
  {
    title: 'Limits',
    style: 'text',
    cell: ({ limits, totals }) => (
      <>
        {[limitWords(limits), limitWords(totals) && `in all ${limitWords(totals)}`].filter(Boolean).join('; ') || (
          <span class="soft">those of the installation</span>
        )}
      </>
    ),
  },
  {
    title: 'Live',
    sortBy: ({ live }) => live,
    style: 'number',
    cell: (key) => (key.live === 0 ? '0' : <a href={sessionsOf(key)}>{countText(key.live)}</a>),
  },
  {
    title: 'Today',
    sortBy: ({ today }) => today && today.dollars,
    style: 'number',
    cell: ({ today }) => (today === null ? '–' : moneyText(today.dollars)),
  },
  {
    title: 'Refused / h',
    sortBy: ({ refusedHour }) => refusedHour && sumOf(refusedHour),
    style: 'number',
    cell: ({ refusedHour }) => (refusedHour === null ? '–' : countText(sumOf(refusedHour))),
  },
];
