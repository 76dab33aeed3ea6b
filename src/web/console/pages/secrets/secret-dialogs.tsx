/** Changes secrets of tenants. A secret's value is sent to the service, and is not kept in the page after the dialog is closed. */
import { useSignal } from '@preact/signals';
import type { OperatorSecret } from '../../../../protocol/operator/secret.ts';
import type { Failure } from '../../data/api.ts';
import { closeDialog, say } from '../../data/dialogs.ts';
import { refreshAll } from '../../data/live.ts';
import { deleteSecret, makeSigningSecret, setSecret, type SecretTenant } from '../../data/secrets.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FormButtons, Modal, ReasonField, Refused, RevokeDialog } from '../../parts/modal.tsx';

interface SetProps {
  readonly tenants: readonly SecretTenant[];
  /** The tenant that is chosen on the page; empty if none. */
  readonly tenantId: string;
  /** The secret that gets a new value. If undefined, the form asks for a name. */
  readonly secret?: OperatorSecret;
}

export function SetSecretDialog({ tenants, tenantId, secret }: SetProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const title = secret === undefined ? 'Set a secret' : `Set ${secret.tenantId}/${secret.name} anew`;

  const set = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const text = (name: string): string => data.getAll(name).find((value) => typeof value === 'string') ?? '';
    const of = secret ?? { tenantId: text('tenantId'), name: text('name').trim() };
    isRunning.value = true;
    const answer = await setSecret({ tenantId: of.tenantId, name: of.name, value: text('value') });
    isRunning.value = false;
    failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return;
    const { name, version } = answer.body.secret;
    say(`Version ${version} of ${name} is set`);
    closeDialog();
    void refreshAll();
  };

  return (
    <Modal title={title} onClose={closeDialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void set(event.currentTarget);
        }}
      >
        <h2>{title}</h2>
        {secret === undefined && (
          <>
            <label class="field">
              Tenant
              <select name="tenantId" defaultValue={tenantId}>
                {tenants.map(({ id, name }) => (
                  <option key={id} value={id} selected={id === tenantId}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <label class="field">
              Name, as in {'${secret:NAME}'}
              <input
                name="name"
                type="text"
                required
                pattern="[A-Za-z0-9_\-]+"
                maxLength={64}
                placeholder="for example crm"
                title="Letters, digits, hyphens and underscores"
                autocomplete="off"
                spellcheck={false}
              />
            </label>
          </>
        )}
        <label class="field">
          Value
          <input
            name="value"
            type="password"
            required
            maxLength={1024}
            autocomplete="new-password"
            spellcheck={false}
          />
        </label>
        <p class="soft hint">
          It is kept sealed and never shown again. Tools send the new value within half a minute; the former one is
          lost.
        </p>
        <Refused failure={failure.value} />
        <FormButtons verb="Set secret" isRunning={isRunning.value} />
      </form>
    </Modal>
  );
}

export function DeleteSecretDialog({ secret }: { readonly secret: OperatorSecret }) {
  const { tenantId, name, agents } = secret;
  return (
    <RevokeDialog
      title={`Delete the secret ${tenantId}/${name}?`}
      verb="Delete"
      isReady
      {...(agents.length > 0 ? { confirm: name } : {})}
      act={async (reason) => {
        const answer = await deleteSecret(secret, reason);
        return answer.ok ? undefined : answer.failure;
      }}
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
  const made = useSignal<string | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const reason = useSignal('');
  const secret = made.value;
  const title = `${secret === undefined ? 'New' : 'The new'} signing secret of ${tenantId}`;

  const make = async (): Promise<void> => {
    isRunning.value = true;
    const answer = await makeSigningSecret(tenantId, reason.peek().trim());
    isRunning.value = false;
    if (answer.ok) made.value = answer.body.secret;
    else failure.value = answer.failure;
    void refreshAll();
  };

  return (
    <Modal title={title} onClose={closeDialog}>
      {secret === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void make();
          }}
        >
          <h2>{title}</h2>
          <p>
            By it the servers of the tenant’s tools know that Switchboard asks. The present one signs as well until the
            next is made; the one before it does not any more.
          </p>
          <ReasonField reason={reason} />
          <Refused failure={failure.value} />
          <FormButtons verb="Make it" isRunning={isRunning.value} />
        </form>
      ) : (
        <>
          <h2>{title}</h2>
          <p>It is shown this once: give it to the servers of the tools now.</p>
          <p class="copied">
            <code class="break">{secret}</code> <CopyButton text={secret} what="Signing secret" />
          </p>
          <form method="dialog" class="buttons">
            <button autofocus>Done</button>
          </form>
        </>
      )}
    </Modal>
  );
}
