import { queryText } from '../data/query.ts';
import type { Budget, BudgetFact, Budgets } from '../data/shapes.ts';
import { mayChange } from '../data/identity.ts';
import { UNTOLD_MS } from '../data/live.ts';
import { useResource } from '../data/resource.ts';
import { OpenButton } from '../components/modal.tsx';
import { Page, Unread } from '../components/page.tsx';
import { Ago, Moment } from '../components/times.tsx';
import { useScope } from '../components/scope.tsx';
import { Table, type Column } from '../components/table.tsx';
import { knownOf, NoTenant, Problem, Warning } from '../components/view-states.tsx';
import { AT_LIMIT, factUsedWords, factWords, limitWords, ofWords, PERIODS, usedWords } from '../labels/budgets.ts';
import { shortName } from '../labels/format.ts';
import { ChangeBudgetDialog, DeleteBudgetDialog, MakeBudgetDialog } from './budget-dialogs.tsx';

/** The budgets of all tenants, or of the one in the address. */
export function BudgetsPage() {
  const { tenantId } = useScope();
  // Read for all tenants, because the dialog lets the operator choose any of them.
  const resource = useResource<Budgets>('/api/operator/budgets', { topics: ['audit'] }, { besideFeedMs: UNTOLD_MS });
  const found = knownOf(resource);
  if (found === undefined) return <Unread title="Budgets" resource={resource} what="the budgets" />;
  const isShown = (one: { readonly tenantId: string | null }): boolean =>
    tenantId === '' || one.tenantId === tenantId || one.tenantId === null;
  const budgets = found.budgets.filter(isShown);
  const facts = found.facts.filter(isShown);
  const isKnown = tenantId === '' || found.tenants.some(({ id }) => id === tenantId);
  return (
    <Page title="Budgets" resource={resource}>
      <div class="title-row">
        <h1>Budgets</h1>
        <span class="spring" />
        <a href={`/console/what-if${queryText({ tenantId, what: 'budget.dollars' })}`}>What if</a>
        {mayChange.value && isKnown && (
          <OpenButton
            verb="New budget"
            kind="primary"
            opens={<MakeBudgetDialog tenants={found.tenants} tenantId={tenantId} />}
          />
        )}
      </div>
      {!isKnown && <NoTenant tenantId={tenantId} />}
      {budgets.length === 0 ? (
        <p class="soft">There are none: only the ceilings of each day bound what is used.</p>
      ) : (
        <section class="budgets" aria-label="Budgets">
          <Table
            caption="Budgets"
            columns={mayChange.value ? [...COLUMNS, CHANGES] : COLUMNS}
            rows={budgets.map((budget) => ({ key: `${budget.tenantId ?? ''}/${budget.id}`, row: budget }))}
          />
        </section>
      )}
      {facts.length > 0 && (
        <section class="told" aria-label="What was told">
          <h2>What was told</h2>
          <Table
            caption="What was told of budgets"
            columns={FACTS}
            rows={facts.map((fact) => ({
              key: `${fact.at} ${fact.tenantId} ${fact.id} ${fact.code} ${fact.account}`,
              row: fact,
            }))}
          />
        </section>
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<Budget>[] = [
  {
    title: 'Budget',
    sortBy: ({ id }) => id,
    style: 'text',
    cell: ({ id, tenantId, of }) => (
      <>
        <b>{id}</b>{' '}
        <span class="soft">
          {tenantId === null ? '' : `${tenantId}, `}
          {ofWords(of)}
        </span>
      </>
    ),
  },
  { title: 'Used', style: 'text', sortBy: ({ percent }) => percent, cell: (budget) => <Used budget={budget} /> },
  { title: 'Period', style: 'text', cell: (budget) => <Period budget={budget} /> },
  { title: 'Lasts until', sortBy: ({ projectedAt }) => projectedAt, cell: (budget) => <Lasts budget={budget} /> },
  { title: 'Then', style: 'text', cell: ({ then }) => AT_LIMIT[then] },
];

/** How much of the limit is used, and the shares at which operators are told. */
function Used({ budget }: { readonly budget: Budget }) {
  const { percent, warnAt, told } = budget;
  const used = usedWords(budget);
  if (percent === null || used === undefined) {
    const over = told.filter(({ exceededAt }) => exceededAt !== null).length;
    return (
      <>
        {limitWords(budget)} each
        {over > 0 && (
          <>
            {' '}
            <Problem>{over === 20 ? 'at least 20' : over} used it up</Problem>
          </>
        )}
      </>
    );
  }
  const isOver = percent >= 100;
  return (
    <div class="budget-used">
      <svg class="gauge" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="gauge-all" width="100" height="8" />
        <rect class={isOver ? 'gauge-over' : 'gauge-used'} width={Math.min(100, percent)} height="8" />
        {warnAt
          .filter((threshold) => threshold < 100)
          .map((threshold) => (
            <rect key={threshold} class="gauge-mark" x={threshold} width="0.6" height="8" />
          ))}
      </svg>
      <span class={isOver ? 'problem' : ''}>
        {isOver && <Warning />} {used} of {limitWords(budget)} <span class="soft">({percent} %)</span>
      </span>
    </div>
  );
}

function Period({ budget: { period, periodName, firstDay, resetAt } }: { readonly budget: Budget }) {
  if (period === 'session') return <>{PERIODS.session}</>;
  if (resetAt === null)
    return (
      <>
        {PERIODS.once} <span class="soft">since {firstDay}</span>
      </>
    );
  return (
    <>
      {periodName}{' '}
      <span class="soft">
        until <Moment at={resetAt} />
      </span>
    </>
  );
}

/** When the budget will be used up at the present rate. */
function Lasts({ budget: { percent, projectedAt, resetAt, told } }: { readonly budget: Budget }) {
  if (percent === null) return <span class="soft">–</span>;
  const since = told.find(({ exceededAt }) => exceededAt !== null)?.exceededAt;
  if (percent >= 100)
    return (
      <span class="problem">
        used up
        {since != null && (
          <>
            {' '}
            <Ago at={since} />
          </>
        )}
      </span>
    );
  if (projectedAt !== null)
    return (
      <Problem>
        <Moment at={projectedAt} />
      </Problem>
    );
  return <span class="soft">{resetAt === null ? 'nobody knows' : 'its end'}</span>;
}

const CHANGES: Column<Budget> = {
  title: '',
  cell: (budget) =>
    budget.mayChange ? (
      <span class="buttons">
        <OpenButton verb="Change" of={budget.id} opens={<ChangeBudgetDialog budget={budget} />} />
        {!budget.isInFile && <OpenButton verb="Delete" of={budget.id} opens={<DeleteBudgetDialog budget={budget} />} />}
      </span>
    ) : (
      <span class="soft">an operator’s</span>
    ),
};

const FACTS: readonly Column<BudgetFact>[] = [
  { title: 'When', cell: ({ at }) => <Ago at={at} /> },
  {
    title: 'Budget',
    style: 'text',
    isName: true,
    cell: ({ id, tenantId }) => (
      <>
        {id} <span class="soft">{tenantId}</span>
      </>
    ),
  },
  { title: 'What', style: 'text', cell: (fact) => factWords(fact) },
  { title: 'Used', style: 'number', cell: ({ used }) => factUsedWords(used) },
  { title: 'By', style: 'text', cell: ({ account }) => <code title={account}>{shortAccount(account)}</code> },
];

/** Shortens subjects and refs of sessions, which are long. Accounts of keys, agents and tenants are shown in full. */
function shortAccount(account: string): string {
  return /^(?:key|agent|tenant):/.test(account) ? account : shortName(account);
}
