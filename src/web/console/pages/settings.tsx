import { useLocation } from 'preact-iso';
import type { OperatorSettings } from '../../../protocol/operator/me.ts';
import { me } from '../data/identity.ts';
import { queryText } from '../data/query.ts';
import { useResource } from '../data/resource.ts';
import { AddressChoice } from '../components/filter-fields.tsx';
import { Matter } from '../components/matters.tsx';
import { Page, Unread } from '../components/page.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Parts } from '../components/codes.tsx';
import { Empty, knownOf, Warning } from '../components/view-states.tsx';

type Setting = OperatorSettings['settings'][number] & {
  /** Whether nodes have different values for it. */
  readonly isMixed: boolean;
};

/** The service's settings, read-only. */
export function SettingsPage() {
  const { path, query, route } = useLocation();
  const resource = useResource<OperatorSettings>('/api/operator/settings', { topics: ['counts'] });
  const settings = knownOf(resource);
  if (settings === undefined) return <Unread title="Settings" resource={resource} what="the settings" rows={12} />;
  const wanted = (query['name'] ?? '').toUpperCase();
  const rows = settings.settings
    .filter(({ name, isSet }) => name.includes(wanted) && (query['show'] !== 'set' || isSet))
    .map((setting) => ({
      key: setting.name,
      row: { ...setting, isMixed: settings.differs.includes(setting.name) },
    }));
  return (
    <Page title="Settings" resource={resource}>
      <div class="title-row">
        <h1>Settings</h1>
        <input
          type="search"
          aria-label="Name"
          placeholder="Name"
          spellcheck={false}
          value={query['name'] ?? ''}
          onInput={({ currentTarget }) => route(path + queryText({ ...query, name: currentTarget.value.trim() }), true)}
        />
        <AddressChoice name="show" label="Show" values={[['set', 'what is set']]} />
        <span class="spring" />
        <span class="soft">version {me.value?.version}</span>
      </div>
      <p class="soft">
        Read only: they are variables of the process, set where it is started. Secrets are told by whether they are set.
      </p>
      <Differences settings={settings} />
      {rows.length === 0 ? (
        <Empty title="No variable is called like that" />
      ) : (
        <Table caption="Variables" columns={COLUMNS} rows={rows} />
      )}
    </Page>
  );
}

/** The nodes whose settings differ from those of the node that answered. */
function Differences({ settings: { nodes, differs } }: { readonly settings: OperatorSettings }) {
  const others = nodes.filter(({ isSame }) => !isSame);
  if (others.length === 0) return null;
  return (
    <Matter degree="watch">
      {others.length} of {nodes.length} nodes {others.length === 1 ? 'is' : 'are'} set otherwise than the one that
      answers: {others.map(({ id, host }) => `${host} (${id.slice(0, 6)})`).join(', ')}.
      {differs.length > 0 && ` What differs: ${differs.join(', ')}.`}
    </Matter>
  );
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    title: 'Variable',
    style: 'text',
    cell: ({ name, isMixed }) => (
      <>
        <code>
          <Parts text={name} />
        </code>
        {isMixed && (
          <span class="problem">
            {' '}
            <Warning /> differs between nodes
          </span>
        )}
      </>
    ),
  },
  {
    title: 'Value',
    style: 'text',
    cell: ({ value, isSecret, isSet }) => {
      if (isSecret) return isSet ? <b>set</b> : <span class="soft">unset</span>;
      if (value === '') return <span class="soft">empty</span>;
      if (value === null) return <span class="soft">unset</span>;
      return isSet ? <b>{value}</b> : value;
    },
  },
  { title: 'Default', style: 'text', cell: ({ default: fallback }) => <span class="soft">{fallback}</span> },
];
