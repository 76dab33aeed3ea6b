import type { OperatorSecret } from '../../../protocol/operator/secret.ts';
import { mayChange } from '../data/identity.ts';
import { useResource } from '../data/resource.ts';
import type { Secrets, SecretTenant } from '../data/shapes.ts';
import { Matter, Matters } from '../components/matters.tsx';
import { OpenButton } from '../components/modal.tsx';
import { Page, Unread } from '../components/page.tsx';
import { Ago } from '../components/times.tsx';
import { useScope } from '../components/scope.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Parts } from '../components/codes.tsx';
import { knownOf, NoTenant } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';
import { DeleteSecretDialog, SetSecretDialog, SigningSecretDialog } from './secret-dialogs.tsx';

/** The secrets of all tenants, or of the one in the address; never their values. */
export function SecretsPage() {
  const { tenantId } = useScope();
  // Read for all tenants, because the dialog lets the operator choose any of them.
  const resource = useResource<Secrets>('/api/operator/secrets', { topics: ['audit'] });
  const found = knownOf(resource);
  if (found === undefined) return <Unread title="Secrets" resource={resource} what="the secrets" />;
  const { tenants, secrets, missing } = found;
  const shown = tenants.filter(({ id }) => tenantId === '' || id === tenantId);
  return (
    <Page title="Secrets" resource={resource}>
      <div class="title-row">
        <h1>Secrets</h1>
        <span class="spring" />
        {mayChange.value && shown.length > 0 && (
          <OpenButton verb="Set" kind="primary" opens={<SetSecretDialog tenants={tenants} tenantId={tenantId} />} />
        )}
      </div>
      {shown.length === 0 && <NoTenant tenantId={tenantId} />}
      {/* Tools that need a missing secret fail, and the agent can only say so. */}
      <Matters
        label="Missing secrets"
        of={missing.filter((each) => shown.some(({ id }) => id === each.tenantId))}
        show={({ tenantId: of, name, agents }) => (
          <Matter key={`${of}/${name}`} degree="watch">
            {of}/{name} is not set: tools of {agents.join(', ')} fail without it
          </Matter>
        )}
        more={(count) => (count === 1 ? 'is not set' : 'are not set')}
      />
      {shown.map((tenant) => (
        <TenantSecrets
          key={tenant.id}
          tenant={tenant}
          secrets={secrets.filter((secret) => secret.tenantId === tenant.id)}
        />
      ))}
    </Page>
  );
}

interface TenantSecretsProps {
  readonly tenant: SecretTenant;
  readonly secrets: readonly OperatorSecret[];
}

function TenantSecrets({ tenant: { id, name }, secrets }: TenantSecretsProps) {
  const rows = secrets.map((secret) => ({ key: `${id}/${secret.name}`, row: secret }));
  return (
    <section class="tenant secrets" aria-label={name}>
      <div class="title-row">
        <h2>
          {name} <code class="soft">{id}</code>
        </h2>
        <span class="spring" />
        {mayChange.value && <OpenButton verb="New signing secret" opens={<SigningSecretDialog tenantId={id} />} />}
      </div>
      {rows.length === 0 ? (
        <p class="soft">It has none: its tools send nothing that proves who calls but the signature.</p>
      ) : (
        <Table caption={`Secrets of ${name}`} columns={mayChange.value ? [...COLUMNS, CHANGES] : COLUMNS} rows={rows} />
      )}
    </section>
  );
}

const COLUMNS: readonly Column<OperatorSecret>[] = [
  {
    title: 'Name',
    style: 'text',
    cell: ({ name }) => (
      <code>
        <Parts text={name} />
      </code>
    ),
  },
  { title: 'Version', style: 'number', cell: ({ version }) => countText(version) },
  { title: 'Set', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { title: 'By', style: 'text', cell: ({ createdBy }) => createdBy },
  {
    title: 'Sent by',
    style: 'text',
    cell: ({ agents }) => (agents.length === 0 ? <span class="soft">no agent</span> : agents.join(', ')),
  },
];

const CHANGES: Column<OperatorSecret> = {
  title: '',
  cell: (secret) => (
    <span class="buttons">
      <OpenButton
        verb="Set"
        of={secret.name}
        opens={<SetSecretDialog secret={secret} tenants={[]} tenantId={secret.tenantId} />}
      />
      <OpenButton verb="Delete" of={secret.name} opens={<DeleteSecretDialog secret={secret} />} />
    </span>
  ),
};
