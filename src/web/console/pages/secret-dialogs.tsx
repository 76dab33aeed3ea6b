/** Changes secrets of tenants. A secret's value is sent to the service, and is not kept in the page after the dialog is closed. */
import type { OperatorSecret, setSecretReply, signingSecretReply } from '../../../protocol/operator/secret.ts';
import { post } from '../data/api.ts';
import type { Output, SecretTenant } from '../data/shapes.ts';
import { Copied } from '../components/codes.tsx';
import { FormDialog, RevokeDialog, SelectField, TextField, textOf, textsOf } from '../components/modal.tsx';

interface SetProps {
  readonly tenants: readonly SecretTenant[];
  /** The tenant that is chosen on the page; empty if none. */
  readonly tenantId: string;
  /** The secret that gets a new value. If undefined, the form asks for a name. */
  readonly secret?: OperatorSecret;
}

export function SetSecretDialog({ tenants, tenantId, secret }: SetProps) {
  const title = secret === undefined ? 'Set a secret' : `Set ${secret.tenantId}/${secret.name} anew`;
  const send = (data: FormData) => {
    const of = secret ?? { tenantId: textOf(data, 'tenantId'), name: textOf(data, 'name') };
    const body = { tenantId: of.tenantId, name: of.name, value: textsOf(data, 'value')[0] ?? '' };
    return post<Output<typeof setSecretReply>>('/api/operator/secrets', body);
  };
  return (
    <FormDialog
      title={title}
      verb="Set secret"
      send={send}
      done={({ secret: { name, version } }) => `Version ${version} of ${name} is set`}
    >
      {secret === undefined && (
        <>
          <SelectField
            label="Tenant"
            name="tenantId"
            values={tenants.map(({ id, name }) => [id, name] as const)}
            chosen={tenantId}
          />
          <TextField
            label={'Name, as in ${secret:NAME}'}
            name="name"
            required
            pattern="[A-Za-z0-9_\-]+"
            maxLength={64}
            placeholder="for example crm"
            title="Letters, digits, hyphens and underscores"
          />
        </>
      )}
      <TextField label="Value" name="value" type="password" required maxLength={1024} autocomplete="new-password" />
      <p class="soft hint">
        It is kept sealed and never shown again. Tools send the new value within half a minute; the former one is lost.
      </p>
    </FormDialog>
  );
}

export function DeleteSecretDialog({ secret }: { readonly secret: OperatorSecret }) {
  const { tenantId, name, agents } = secret;
  return (
    <RevokeDialog
      title={`Delete the secret ${tenantId}/${name}?`}
      verb="Delete"
      confirm={agents.length > 0 ? name : undefined}
      send={(_, reason) => post(`/api/operator/secrets/${encodeURIComponent(name)}/delete`, { tenantId, reason })}
      done="Secret deleted"
    >
      <p>
        {agents.length === 0
          ? 'No agent sends it.'
          : `Tools of ${agents.join(', ')} send it: they fail until it is set again.`}
      </p>
      <p>Nobody can bring it back: keep it elsewhere if you need it.</p>
    </RevokeDialog>
  );
}

/** Creates a tenant's next signing secret, and shows it only this once. */
export function SigningSecretDialog({ tenantId }: { readonly tenantId: string }) {
  const title = `The new signing secret of ${tenantId}`;
  return (
    <FormDialog
      title={`New signing secret of ${tenantId}`}
      verb="Make it"
      reason="required"
      send={(_, reason) =>
        post<Output<typeof signingSecretReply>>('/api/operator/secrets/signing', { tenantId, reason })
      }
      result={{
        title,
        show: ({ secret }) => (
          <>
            <h2>{title}</h2>
            <p>It is shown this once: give it to the servers of the tools now.</p>
            <Copied text={secret} what="Signing secret" />
          </>
        ),
      }}
    >
      <p>
        By it the servers of the tenant’s tools know that Switchboard asks. The present one signs as well until the next
        is made; the one before it does not any more.
      </p>
    </FormDialog>
  );
}
