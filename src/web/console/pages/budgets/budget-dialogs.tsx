/** Creates, changes and deletes budgets. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Answer, Failure } from '../../data/api.ts';
import { changeBudget, deleteBudget, makeBudget, type Budget, type BudgetTenant } from '../../data/budgets.ts';
import { closeDialog, say } from '../../data/dialogs.ts';
import { mayBoundAll } from '../../data/identity.ts';
import { refreshAll } from '../../data/live.ts';
import { FormButtons, Modal, Refused, RevokeDialog } from '../../parts/modal.tsx';
import { AT_LIMIT, PERIODS } from '../../words/budgets.ts';

/** Reads a form: the text of a field, or undefined if it is empty. */
function fieldsOf(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string): string => (data.getAll(name).find((value) => typeof value === 'string') ?? '').trim();
  const amount = (name: string): number | null => (text(name) === '' ? null : Number(text(name)));
  const warnAt = text('warnAt')
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(Number);
  const then = text('then') as Budget['then'];
  const addresses = text('tell')
    .split(/[\s,]+/)
    .filter((part) => part !== '');
  const tell = data.has('tellNobody') ? [] : addresses.length === 0 ? null : addresses;
  const amounts = { dollars: amount('dollars'), tokens: amount('tokens'), minutes: amount('minutes') };
  return { text, terms: { ...amounts, warnAt, then, tell } };
}

interface FormProps {
  readonly title: string;
  readonly verb: string;
  readonly children: ComponentChildren;
  readonly send: (form: HTMLFormElement) => Promise<Answer<object>>;
  readonly done: string;
}

function BudgetForm({ title, verb, children, send, done }: FormProps) {
  const failure = useSignal<Failure | undefined>(undefined);
  const isRunning = useSignal(false);
  const run = async (form: HTMLFormElement): Promise<void> => {
    isRunning.value = true;
    const answer = await send(form);
    isRunning.value = false;
    failure.value = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return;
    say(done);
    closeDialog();
    void refreshAll();
  };
  return (
    <Modal title={title} onClose={closeDialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(event.currentTarget);
        }}
      >
        <h2>{title}</h2>
        {children}
        <Refused failure={failure.value} />
        <FormButtons verb={verb} isRunning={isRunning.value} />
      </form>
    </Modal>
  );
}

/** The fields of a budget that can be changed. */
function TermsFields({ budget }: { readonly budget?: Budget }) {
  const { dollars = null, tokens = null, minutes = null, warnAt = [80, 95], then = 'end', tell = null } = budget ?? {};
  return (
    <>
      <label class="field">
        Dollars
        <input
          name="dollars"
          type="number"
          min="0.000001"
          step="any"
          defaultValue={dollars ?? ''}
          placeholder="any amount"
        />
      </label>
      <label class="field">
        Tokens
        <input name="tokens" type="number" min="1" step="1" defaultValue={tokens ?? ''} placeholder="any number" />
      </label>
      <label class="field">
        Minutes of brokered calls
        <input
          name="minutes"
          type="number"
          min="0.000001"
          step="any"
          defaultValue={minutes ?? ''}
          placeholder="any number"
        />
      </label>
      <label class="field">
        Tell at percents
        <input
          name="warnAt"
          type="text"
          defaultValue={warnAt.join(', ')}
          inputMode="numeric"
          placeholder="for example 50, 80, 95"
        />
      </label>
      <label class="field">
        Mail to
        <input
          name="tell"
          type="text"
          defaultValue={tell?.join(', ') ?? ''}
          inputMode="email"
          autocomplete="off"
          spellcheck={false}
          placeholder="the admins; or at most 10 addresses"
        />
      </label>
      <label class="check">
        <input name="tellNobody" type="checkbox" defaultChecked={tell?.length === 0} />
        Mail nobody
      </label>
      <label class="field">
        When nothing is left it
        <select name="then">
          {Object.entries(AT_LIMIT).map(([end, words]) => (
            <option key={end} value={end} selected={end === then}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

interface MakeProps {
  readonly tenants: readonly BudgetTenant[];
  /** The tenant that is chosen on the page; empty if none. */
  readonly tenantId: string;
}

export function MakeBudgetDialog({ tenants, tenantId }: MakeProps) {
  const chosen = useSignal(tenantId || (mayBoundAll.value ? '' : (tenants[0]?.id ?? '')));
  const tenant = tenants.find(({ id }) => id === chosen.value);
  const send = (form: HTMLFormElement) => {
    const { text, terms } = fieldsOf(form);
    const scope = chosen.peek() === '' ? {} : { tenantId: chosen.peek() };
    const period = text('period') as Budget['period'];
    return makeBudget({ ...scope, id: text('id'), of: text('of'), period, ...terms });
  };
  return (
    <BudgetForm title="Make a budget" verb="Make budget" send={send} done="The budget is made">
      <label class="field">
        Of
        <select name="tenantId" onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}>
          {mayBoundAll.value && <option value="">The whole installation</option>}
          {tenants.map(({ id, name }) => (
            <option key={id} value={id} selected={id === chosen.value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Counts
        <select name="of" key={chosen.value}>
          {tenant === undefined ? (
            <option value="installation">all of it together</option>
          ) : (
            <>
              <option value="tenant">all of the tenant together</option>
              <option value="user">each user for itself</option>
              {tenant.keys.map((id) => (
                <option key={`key:${id}`} value={`key:${id}`}>{`the key ${id}`}</option>
              ))}
              {tenant.agents.map((id) => (
                <option key={`agent:${id}`} value={`agent:${id}`}>{`the agent ${id}`}</option>
              ))}
            </>
          )}
        </select>
      </label>
      <label class="field">
        Period
        <select name="period">
          {Object.entries(PERIODS).map(([period, words]) => (
            <option key={period} value={period} selected={period === 'month'}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Name
        <input
          name="id"
          type="text"
          required
          maxLength={64}
          pattern="[A-Za-z0-9._\-]+"
          autocomplete="off"
          spellcheck={false}
          title="Letters, digits, dots, hyphens and underscores"
          placeholder="for example monthly"
        />
      </label>
      <TermsFields />
      <p class="soft hint">What its period has used already counts, and it acts on what is open at once.</p>
    </BudgetForm>
  );
}

export function ChangeBudgetDialog({ budget }: { readonly budget: Budget }) {
  const title = `Change the budget ${budget.id}`;
  const send = (form: HTMLFormElement) => changeBudget(budget, { version: budget.version, ...fieldsOf(form).terms });
  return (
    <BudgetForm title={title} verb="Change it" send={send} done="The budget is changed">
      <TermsFields budget={budget} />
      <p class="soft hint">
        Raised, it opens sessions again within a second; lowered below what is used, it ends them.
        {budget.isInFile && ' The tenants file takes it back only when its own entry is changed.'}
      </p>
    </BudgetForm>
  );
}

export function DeleteBudgetDialog({ budget }: { readonly budget: Budget }) {
  const { tenantId, id, percent } = budget;
  return (
    <RevokeDialog
      title={`Delete the budget ${id}?`}
      verb="Delete"
      isReady
      act={async (reason) => {
        const answer = await deleteBudget(budget, reason);
        return answer.ok ? undefined : answer.failure;
      }}
      done="Budget deleted"
    >
      <p>
        {percent !== null && percent >= 100
          ? 'Nothing is left of it: sessions begin again within a second.'
          : 'It bounds nothing any more.'}
      </p>
      <p>{tenantId === null ? 'It is of the whole installation.' : `It is of ${tenantId}.`}</p>
    </RevokeDialog>
  );
}
