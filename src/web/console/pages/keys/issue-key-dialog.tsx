/** Issues a widget key. No default makes it open: operators must ask for that. */
import { useSignal, type Signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useId } from 'preact/hooks';
import type { KeyBots } from '../../../../protocol/challenge.ts';
import type { issueKeyReply, issueKeyRequest } from '../../../../protocol/operator/key.ts';
import { post } from '../../data/api.ts';
import { isOfInstallation } from '../../data/identity.ts';
import type { Output, KeyTenant } from '../../data/shapes.ts';
import { FormDialog, SelectField, TextField, textOf, textsOf } from '../../components/modal.tsx';
import { Unloaded } from '../../components/view-states.tsx';
import { LIMITS, TOTALS } from '../../labels/keys.ts';
import { KeyToCopy } from '../key/key-to-copy.tsx';

interface Props {
  readonly tenants: readonly KeyTenant[];
  /** The tenant that is chosen on the page; empty if none. */
  readonly tenantId: string;
}

export function IssueKeyDialog({ tenants, tenantId }: Props) {
  const bots = useSignal<KeyBots | undefined>(undefined);
  const tenant = useSignal(tenantId || (tenants[0]?.id ?? ''));
  const agentsOf = (wanted: string): readonly string[] => tenants.find(({ id }) => id === wanted)?.agents ?? [];
  const agents = agentsOf(tenant.value);

  const send = (data: FormData) => {
    const numbers = (prefix: string, names: object): Record<string, number> =>
      Object.fromEntries(
        Object.keys(names).flatMap((name) => {
          const value = textOf(data, `${prefix}.${name}`);
          return value === '' ? [] : [[name, Number(value)]];
        }),
      );
    const totals = numbers('totals', TOTALS);
    const isUnbounded = data.has('noTotals');
    const key: Output<typeof issueKeyRequest> = {
      tenantId: tenant.peek(),
      id: textOf(data, 'id'),
      origin: textOf(data, 'origin'),
      label: textOf(data, 'label') || undefined,
      agents: agents.length === 0 ? undefined : textsOf(data, 'agents'),
      allowOverrides: data.has('allowOverrides') || undefined,
      dataChannel: textOf(data, 'dataChannel') === 'open' ? 'open' : undefined,
      limits: numbers('limits', LIMITS),
      // Without the field the key gets the usual totals; with an empty object it gets none.
      totals: isUnbounded || Object.keys(totals).length > 0 ? totals : undefined,
      bots: bots.peek(),
    };
    return post<Output<typeof issueKeyReply>>('/api/operator/keys', key);
  };

  return (
    <FormDialog
      title="Issue a key"
      verb="Issue key"
      send={send}
      result={{
        title: 'Key issued',
        show: ({ key }) => (
          <>
            <h2>Key {key.id} is issued</h2>
            <p>
              Every node serves it from now on, for pages of <code class="break">{key.origin}</code>.
            </p>
            <KeyToCopy widgetKey={key} agents={agentsOf(key.tenantId)} />
          </>
        ),
      }}
    >
      <SelectField
        label="Tenant"
        values={tenants.map(({ id, name }) => [id, name] as const)}
        chosen={tenant.value}
        onSet={(id) => (tenant.value = id)}
      />
      <TextField label="Id, in the tenant" name="id" required placeholder="for example shop" maxLength={200} />
      <TextField
        label="Origin of the website"
        name="origin"
        required
        placeholder="https://shop.example"
        maxLength={200}
      />
      <TextField
        label={
          <span>
            Label, for operators<span class="soft"> (optional)</span>
          </span>
        }
        name="label"
        maxLength={200}
      />
      <fieldset>
        <legend>Agents that it may ask for</legend>
        {agents.map((agent) => (
          <label key={`${tenant.value} ${agent}`} class="check">
            <input type="checkbox" name="agents" value={agent} defaultChecked /> {agent}
          </label>
        ))}
        {agents.length === 0 && <p class="soft">The tenant has none.</p>}
      </fieldset>
      {isOfInstallation.value && (
        <>
          <label class="check">
            <input type="checkbox" name="allowOverrides" /> Pages may change model, voice, instructions and tools
          </label>
          <label class="check">
            <input type="checkbox" name="noTotals" /> Nothing bounds what all visitors use together
          </label>
          <p class="soft hint">Every browser can read a key: with either of these, a copied one is a free model.</p>
          <DataChannel />
        </>
      )}
      <Numbers prefix="limits" title="Limits for each visitor" names={LIMITS} />
      <Numbers prefix="totals" title="Limits over all visitors" names={TOTALS} />
      <Challenges bots={bots} />
    </FormDialog>
  );
}

interface ChallengesProps {
  readonly bots: Signal<KeyBots | undefined>;
}

/** Loads its fields only when they are wanted, because most keys use the installation's settings. */
function Challenges({ bots }: ChallengesProps) {
  const fields = useSignal<FunctionComponent<ChallengesProps> | undefined>(undefined);
  const load = (): void =>
    void import('./challenge-fields.tsx').then(
      ({ ChallengeFields }) => (fields.value = ChallengeFields),
      () => (fields.value = Unloaded),
    );
  const Fields = fields.value;
  return (
    <details onToggle={load}>
      <summary>Challenges for visitors</summary>
      {Fields && <Fields bots={bots} />}
    </details>
  );
}

/** The safe choice comes first and is preselected. It only matters for brokered calls. */
function DataChannel() {
  return (
    <fieldset>
      <legend>What its pages are in a call that Switchboard opens</legend>
      <label class="check">
        <input type="radio" name="dataChannel" value="none" defaultChecked /> A microphone and a speaker (recommended)
      </label>
      <p class="soft hint">They cannot change the agent, and a hostile one costs at most its one running response.</p>
      <label class="check">
        <input type="radio" name="dataChannel" value="open" /> They also speak to the provider themselves
      </label>
      <p class="soft hint">
        For the provider’s own SDKs: pages learn instructions and tools, and ask for responses, several at once where
        they may change the agent.
      </p>
    </fieldset>
  );
}

interface NumbersProps {
  readonly prefix: string;
  readonly title: string;
  readonly names: Readonly<Record<string, string>>;
}

function placeholderOf(prefix: string, name: string): string {
  if (name === 'newVisitorSeconds') return 'as others';
  return prefix === 'limits' ? 'as set for all' : 'as usual';
}

function Numbers({ prefix, title, names }: NumbersProps) {
  const id = useId();
  return (
    <details>
      <summary>{title}</summary>
      <div class="numbers">
        {Object.entries(names).map(([name, words]) => (
          <label key={name} class="field" for={`${id}${name}`}>
            {words}
            <input
              id={`${id}${name}`}
              name={`${prefix}.${name}`}
              type="number"
              min="0"
              step={words.startsWith('dollars') ? 'any' : '1'}
              placeholder={placeholderOf(prefix, name)}
            />
          </label>
        ))}
      </div>
    </details>
  );
}
