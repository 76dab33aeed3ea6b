/** Creates, changes and deletes budgets. */
import { useSignal } from '@preact/signals';
import type { changeBudgetRequest, makeBudgetRequest } from '../../../protocol/operator/budget.ts';
import { patch, post, remove } from '../data/api.ts';
import { isOfInstallation } from '../data/identity.ts';
import { queryText } from '../data/query.ts';
import type { Budget, BudgetTenant, Output } from '../data/shapes.ts';
import { FormDialog, RevokeDialog, SelectField, TextField, textOf } from '../components/modal.tsx';
import { AT_LIMIT, PERIODS } from '../labels/budgets.ts';

/** Reads the fields of a budget that can be changed. */
function termsOf(data: FormData) {
  const amount = (name: string): number | null => (textOf(data, name) === '' ? null : Number(textOf(data, name)));
  const list = (name: string): string[] =>
    textOf(data, name)
      .split(/[\s,]+/)
      .filter((part) => part !== '');
  const addresses = list('tell');
  return {
    dollars: amount('dollars'),
    tokens: amount('tokens'),
    minutes: amount('minutes'),
    warnAt: list('warnAt').map(Number),
    then: textOf(data, 'then') as Budget['then'],
    tell: data.has('tellNobody') ? [] : addresses.length === 0 ? null : addresses,
  };
}

const AMOUNTS = [
  ['dollars', 'Dollars', '0.000001', 'any', 'any amount'],
  ['tokens', 'Tokens', '1', '1', 'any number'],
  ['minutes', 'Minutes of brokered calls', '0.000001', 'any', 'any number'],
] as const;

/** The fields of a budget that can be changed. */
function TermsFields({ budget }: { readonly budget?: Budget }) {
  const { warnAt = [80, 95], then = 'end', tell = null } = budget ?? {};
  return (
    <>
      <div class="numbers">
        {AMOUNTS.map(([name, label, min, step, placeholder]) => (
          <label key={name} class="field">
            {label}
            <input {...{ name, min, step, placeholder }} type="number" defaultValue={budget?.[name] ?? ''} />
          </label>
        ))}
        <SelectField label="When nothing is left it" name="then" values={Object.entries(AT_LIMIT)} chosen={then} />
      </div>
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
      <TextField
        label="Mail to"
        name="tell"
        defaultValue={tell?.join(', ') ?? ''}
        inputMode="email"
        placeholder="the admins; or at most 10 addresses"
      />
      <label class="check">
        <input name="tellNobody" type="checkbox" defaultChecked={tell?.length === 0} />
        Mail nobody
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
  const chosen = useSignal(tenantId || (isOfInstallation.value ? '' : (tenants[0]?.id ?? '')));
  const tenant = tenants.find(({ id }) => id === chosen.value);
  const send = (data: FormData) =>
    post('/api/operator/budgets', {
      tenantId: chosen.peek() || undefined,
      id: textOf(data, 'id'),
      of: textOf(data, 'of'),
      period: textOf(data, 'period') as Budget['period'],
      ...termsOf(data),
    } satisfies Partial<Output<typeof makeBudgetRequest>>);
  const counted = [
    ['tenant', 'all of the tenant together'],
    ['user', 'each user for itself'],
    ...(tenant?.keys ?? []).map((id) => [`key:${id}`, `the key ${id}`] as const),
    ...(tenant?.agents ?? []).map((id) => [`agent:${id}`, `the agent ${id}`] as const),
  ] as const;
  return (
    <FormDialog title="New budget" verb="Create budget" send={send} done="The budget is created">
      <SelectField
        label="Of"
        chosen={chosen.value}
        onSet={(id) => (chosen.value = id)}
        values={[
          ...(isOfInstallation.value ? [['', 'The whole installation'] as const] : []),
          ...tenants.map(({ id, name }) => [id, name] as const),
        ]}
      />
      <SelectField
        key={chosen.value}
        label="Counts"
        name="of"
        values={tenant === undefined ? [['installation', 'all of it together']] : counted}
      />
      <SelectField label="Period" name="period" values={Object.entries(PERIODS)} chosen="month" />
      <TextField
        label="Name"
        name="id"
        required
        maxLength={64}
        pattern="[A-Za-z0-9._\-]+"
        title="Letters, digits, dots, hyphens and underscores"
        placeholder="for example monthly"
      />
      <TermsFields />
      <p class="soft hint">What its period has used already counts, and it acts on what is open at once.</p>
    </FormDialog>
  );
}

function addressOf({ tenantId, id }: Budget, reason?: string): string {
  return `/api/operator/budgets/${encodeURIComponent(id)}${queryText({ tenantId, reason })}`;
}

export function ChangeBudgetDialog({ budget }: { readonly budget: Budget }) {
  const title = `Change the budget ${budget.id}`;
  const send = (data: FormData) => {
    const changes: Output<typeof changeBudgetRequest> = { version: budget.version, ...termsOf(data) };
    return patch(addressOf(budget), changes);
  };
  return (
    <FormDialog title={title} verb="Change it" send={send} done="The budget is changed">
      <TermsFields budget={budget} />
      <p class="soft hint">
        Raised, it opens sessions again within a second; lowered below what is used, it ends them.
        {budget.isInFile && ' The tenants file takes it back only when its own entry is changed.'}
      </p>
    </FormDialog>
  );
}

export function DeleteBudgetDialog({ budget }: { readonly budget: Budget }) {
  const { tenantId, id, percent } = budget;
  return (
    <RevokeDialog
      title={`Delete the budget ${id}?`}
      verb="Delete"
      send={(_, reason) => remove(addressOf(budget, reason))}
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
