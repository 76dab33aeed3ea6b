/** Adds and changes webhooks. A secret is shown once, and is not kept in the page after its dialog is closed. */
import { useSignal } from '@preact/signals';
import type { Failure } from '../../data/api.ts';
import { closeDialog, say } from '../../data/dialogs.ts';
import { mayBoundAll } from '../../data/identity.ts';
import { refreshAll } from '../../data/live.ts';
import { useResource } from '../../data/resource.ts';
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  rotateWebhook,
  turnWebhook,
  type Webhook,
  type Webhooks,
} from '../../data/webhooks.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FormButtons, Modal, ReasonField, Refused, RevokeDialog } from '../../parts/modal.tsx';
import { Loading } from '../../parts/view-states.tsx';
import { countText } from '../../words/format.ts';

function textsOf(data: FormData, name: string): readonly string[] {
  return data.getAll(name).filter((value) => typeof value === 'string');
}

interface WishProps {
  readonly known: Webhooks['types'];
  readonly url: string;
  readonly types: readonly string[];
}

/** The fields for the webhook's address and event types. */
function WishFields({ known, url, types }: WishProps) {
  return (
    <>
      <label class="field">
        Address
        <input
          name="url"
          type="url"
          required
          maxLength={1024}
          placeholder="https://hooks.example.com/switchboard"
          defaultValue={url}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <fieldset>
        <legend>Is told when</legend>
        {known.map(({ type, meaning }) => (
          <label key={type} class="check">
            <input type="checkbox" name="types" value={type} defaultChecked={types.includes(type)} />
            <span>
              <code>{type}</code> <span class="soft">{meaning}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  );
}

/** A secret that is shown only this once. */
function ShownSecret({ title, secret }: { readonly title: string; readonly secret: string }) {
  return (
    <>
      <h2>{title}</h2>
      <p>The secret is shown this once: give it to the server now.</p>
      <p class="copied">
        <code class="break">{secret}</code> <CopyButton text={secret} what="Secret" />
      </p>
      <form method="dialog" class="buttons">
        <button autofocus>Done</button>
      </form>
    </>
  );
}

interface AddProps {
  readonly tenants: Webhooks['tenants'];
  readonly types: Webhooks['types'];
  /** The tenant that is chosen on the page; empty if none. */
  readonly tenantId: string;
}

export function AddWebhookDialog({ tenants, types, tenantId }: AddProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const secret = useSignal<string | undefined>(undefined);
  const title = secret.value === undefined ? 'Add a webhook' : 'The webhook is added';

  const add = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const [of = ''] = textsOf(data, 'tenantId');
    const [url = ''] = textsOf(data, 'url');
    isRunning.value = true;
    const answer = await addWebhook({
      ...(of === '' ? {} : { tenantId: of }),
      url: url.trim(),
      types: [...textsOf(data, 'types')],
    });
    isRunning.value = false;
    failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return;
    secret.value = answer.body.secret;
    void refreshAll();
  };

  return (
    <Modal title={title} onClose={closeDialog}>
      {secret.value === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void add(event.currentTarget);
          }}
        >
          <h2>{title}</h2>
          <label class="field">
            Of
            <select name="tenantId">
              {mayBoundAll.value && <option value="">all tenants, for the installation</option>}
              {tenants.map(({ id, name }) => (
                <option key={id} value={id} selected={id === tenantId}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <WishFields known={types} url="" types={['session.settled']} />
          <Refused failure={failure.value} />
          <FormButtons verb="Add" isRunning={isRunning.value} />
        </form>
      ) : (
        <ShownSecret title={title} secret={secret.value} />
      )}
    </Modal>
  );
}

export function ChangeWebhookDialog({ webhook }: { readonly webhook: Webhook }) {
  const all = useResource<Webhooks>('/api/operator/webhooks', { topics: ['audit'] });
  const known = all.body.value?.types;
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const change = async (form: HTMLFormElement): Promise<void> => {
    const data = new FormData(form);
    const [url = ''] = textsOf(data, 'url');
    isRunning.value = true;
    const answer = await changeWebhook(webhook.id, { url: url.trim(), types: textsOf(data, 'types') });
    isRunning.value = false;
    failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return;
    say('The webhook is changed');
    closeDialog();
    void refreshAll();
  };
  return (
    <Modal title="Change the webhook" onClose={closeDialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change(event.currentTarget);
        }}
      >
        <h2>Change the webhook</h2>
        {known === undefined ? <Loading rows={3} /> : <WishFields known={known} {...webhook} />}
        <p class="soft hint">What waits for it goes to the new address too; it is told of other things from now on.</p>
        <Refused failure={failure.value} />
        <FormButtons verb="Change" isRunning={isRunning.value} />
      </form>
    </Modal>
  );
}

/** Creates the webhook's next secret, and shows it only this once. */
export function RotateWebhookDialog({ id }: Pick<Webhook, 'id'>) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const secret = useSignal<string | undefined>(undefined);
  const reason = useSignal('');
  const title = secret.value === undefined ? 'Make a new secret' : 'The new secret';
  const make = async (): Promise<void> => {
    isRunning.value = true;
    const answer = await rotateWebhook(id, reason.peek().trim());
    isRunning.value = false;
    if (answer.ok) secret.value = answer.body.secret;
    else failure.value = answer.failure;
    void refreshAll();
  };
  return (
    <Modal title={title} onClose={closeDialog}>
      {secret.value === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void make();
          }}
        >
          <h2>{title}</h2>
          <p>By it the server knows that Switchboard sends. The present one signs as well for 24 hours.</p>
          <ReasonField reason={reason} />
          <Refused failure={failure.value} />
          <FormButtons verb="Make it" isRunning={isRunning.value} />
        </form>
      ) : (
        <ShownSecret title={title} secret={secret.value} />
      )}
    </Modal>
  );
}

export function DeleteWebhookDialog({ webhook, onDone }: { readonly webhook: Webhook; readonly onDone: () => void }) {
  const { id, url, waiting } = webhook;
  return (
    <RevokeDialog
      title="Delete this webhook?"
      verb="Delete"
      isReady
      act={async (reason) => {
        const answer = await deleteWebhook(id, reason);
        if (answer.ok) onDone();
        return answer.ok ? undefined : answer.failure;
      }}
      done="Webhook deleted"
    >
      <p class="break">{url} is told nothing any more.</p>
      {waiting > 0 && <p>{countText(waiting)} deliveries wait for it, and are lost.</p>}
    </RevokeDialog>
  );
}

export function DisableWebhookDialog({ id }: Pick<Webhook, 'id'>) {
  return (
    <RevokeDialog
      title="Send nothing to this webhook?"
      verb="Disable"
      isReady
      act={async (reason) => {
        const answer = await turnWebhook(id, 'disable', reason);
        return answer.ok ? undefined : answer.failure;
      }}
      done="Webhook disabled"
    >
      <p>What happens meanwhile waits, and is sent once it is enabled.</p>
    </RevokeDialog>
  );
}
