import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { post, type Failure } from '../data/api.ts';
import { instantOf, queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import { now } from '../data/server-time.ts';
import type { WhatIf, Keys } from '../data/shapes.ts';
import { Card } from '../components/card.tsx';
import { Chips } from '../components/filter-fields.tsx';
import { Refused, SelectField } from '../components/modal.tsx';
import { Page } from '../components/page.tsx';
import { useScope } from '../components/scope.tsx';
import { Empty, Shown } from '../components/view-states.tsx';
import { moneyText } from '../../../protocol/money.ts';
import { countText } from '../labels/format.ts';
import { CHANGES, changeOf, presentOf, REFUSED, type Tried } from '../labels/what-if.ts';

const SPANS: readonly (readonly [since: string, words: string])[] = [
  ['-1d', 'a day'],
  ['-7d', 'a week'],
  ['-30d', '30 days'],
];

const PERIODS = ['session', 'day', 'week', 'month'].map((each) => [each, each] as const);
const ENDS = [
  ['end', 'refuse creates and end sessions'],
  ['refuse', 'refuse creates'],
] as const;

/** What would have happened with another limit or budget, before setting it. */
export function WhatIfPage() {
  const { tenantId } = useScope();
  const resource = useResource<Keys>(`/api/operator/keys${queryText({ tenantId })}`, { topics: [] });
  return (
    <Page title="What if">
      <h1>What if</h1>
      <p class="soft">What a limit or a budget would have refused, ended and saved. Nothing is set.</p>
      <Shown key={tenantId} resource={resource} what="keys">
        {(list) => (list.tenants.length === 0 ? <Empty title="There is no tenant" /> : <Ask list={list} />)}
      </Shown>
    </Page>
  );
}

function Ask({ list }: { readonly list: Keys }) {
  const { query, path, route } = useLocation();
  const { tenantId: inScope } = useScope();
  const tenantId = query['of'] ?? (inScope || (list.tenants[0]?.id ?? ''));
  const keys = list.keys.filter((key) => key.tenantId === tenantId && key.revokedAt === null);
  const tried: Tried = {
    what: query['what'] ?? 'totals.dollarsDaily',
    keyId: query['keyId'] ?? '',
    amount: query['amount'] ?? '',
    period: query['period'] ?? 'month',
    then: query['then'] ?? 'end',
  };
  const since = query['since'] ?? '-7d';
  const set = (changed: object): void => {
    const values = { ...query, ...changed };
    route(path + queryText(values), true);
  };
  const isBudget = tried.what.startsWith('budget.');
  const isOfKey = tried.what.startsWith('limits.');
  const key = keys.find(({ id }) => id === tried.keyId);
  const present = presentOf(
    tried,
    key,
    list.tenants.find(({ id }) => id === tenantId),
  );
  return (
    <>
      <form class="what-if" onSubmit={(event) => event.preventDefault()}>
        {list.tenants.length > 1 && (
          <SelectField
            label="Tenant"
            values={list.tenants.map(({ id, name }) => [id, name] as const)}
            chosen={tenantId}
            onSet={(of) => set({ of, keyId: '' })}
          />
        )}
        <SelectField label="Change" values={CHANGES} chosen={tried.what} onSet={(what) => set({ what })} />
        <SelectField
          label="Widget key"
          values={[['', isOfKey ? 'Choose a key' : 'The whole tenant'], ...keys.map(({ id }) => [id, id] as const)]}
          chosen={tried.keyId}
          onSet={(keyId) => set({ keyId })}
        />
        <label class="field">
          To
          <input
            type="number"
            min="0"
            step="any"
            value={tried.amount}
            // With each key, not when the field is left: leaving it by a press of the button would replace the button before the press is over.
            onInput={({ currentTarget }) => set({ amount: currentTarget.value })}
          />
          <span class="soft">{present}</span>
        </label>
        {isBudget && (
          <>
            <SelectField label="Every" values={PERIODS} chosen={tried.period} onSet={(period) => set({ period })} />
            <SelectField
              label="When nothing is left"
              values={ENDS}
              chosen={tried.then}
              onSet={(then) => set({ then })}
            />
          </>
        )}
        <Chips label="The last" value={since} values={SPANS} onSet={(chosen) => set({ since: chosen })} />
      </form>
      <Run
        key={JSON.stringify([tenantId, tried, since])}
        tenantId={tenantId}
        tried={tried}
        since={since}
        isReady={tried.amount !== '' && !(isOfKey && tried.keyId === '')}
      />
    </>
  );
}

interface RunProps {
  readonly tenantId: string;
  readonly tried: Tried;
  readonly since: string;
  readonly isReady: boolean;
}

function Run({ tenantId, tried, since, isReady }: RunProps) {
  const running = useRef<AbortController | undefined>(undefined);
  const isRunning = useSignal(false);
  const failure = useSignal<Failure | undefined>(undefined);
  const found = useSignal<WhatIf | undefined>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const ask = async (): Promise<void> => {
    const abort = new AbortController();
    running.current = abort;
    isRunning.value = true;
    failure.value = undefined;
    found.value = undefined;
    const to = now.peek();
    const span = { from: instantOf(since, to), to: new Date(to).toISOString() };
    const body = { ...span, tenantId, change: changeOf(tried) };
    const answer = await post<WhatIf>('/api/operator/what-if', body, abort.signal);
    isRunning.value = false;
    if (abort.signal.aborted) return;
    if (answer.ok) found.value = answer.body;
    else failure.value = answer.failure;
  };

  return (
    <>
      <p class="buttons">
        <button type="button" class="primary" disabled={!isReady || isRunning.value} onClick={() => void ask()}>
          What would have happened
        </button>
        {isRunning.value && (
          <button type="button" onClick={() => running.current?.abort()}>
            Cancel
          </button>
        )}
      </p>
      <div role="status" class="stack">
        {isRunning.value && <p class="soft">Replaying what happened. A busy month takes minutes.</p>}
        <Refused failure={failure.value} />
        {found.value !== undefined && <Found found={found.value} />}
      </div>
    </>
  );
}

function Found({ found: { creates, ended, dollars, notReplayed } }: { readonly found: WhatIf }) {
  const reasons = Object.entries(creates.byCode).map(([code, n]) => `${countText(n)} ${REFUSED[code] ?? code}`);
  return (
    <>
      <Card title="What would have happened">
        {creates.total === 0 && <p>No session was opened in this time.</p>}
        <ul class="changes">
          <li>
            <b class="figure">{countText(creates.refused)}</b>
            <span class="break">
              of {countText(creates.total)} creates refused{reasons.length === 0 ? '' : `: ${reasons.join(', ')}`}
            </span>
          </li>
          <li>
            <b class="figure">{countText(ended)}</b>
            <span class="break">sessions ended earlier</span>
          </li>
          <li>
            <b class="figure">{moneyText(dollars.replayed)}</b>
            <span class="break">used, in the place of {moneyText(dollars.actual)}</span>
          </li>
        </ul>
      </Card>
      <Card title="What is not replayed">
        <ul>
          {notReplayed.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Card>
    </>
  );
}
