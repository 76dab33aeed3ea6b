/** The filter of the list: every choice is in the address at once. */
import { useEffect, useRef } from 'preact/hooks';
import { toggled, type Filter, type FilterName } from '../data/filter.ts';
import { REASON_NAMES, reasonWords } from '../words/reasons.ts';
import { STATE_NAMES } from '../words/states.ts';
import { StateMark } from './state-mark.tsx';

interface Props {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

const TIMES: readonly (readonly [from: string, words: string])[] = [
  ['-15m', 'last 15 min'],
  ['-1h', 'last hour'],
  ['-24h', 'last 24 h'],
  ['-7d', 'last 7 days'],
];

export function SessionFilter({ filter, onChange }: Props) {
  const set = (name: FilterName, value: string): void => onChange({ ...filter, [name]: value.trim() || undefined });
  const isFiltered = Object.keys(filter).length > 0;
  const states = (filter.state ?? '').split(',');
  return (
    <form class="filter" role="search" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <div class="chips" role="group" aria-label="State">
        {STATE_NAMES.map((state) => (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={states.includes(state)}
            onClick={() => set('state', toggled(filter.state, state))}
          >
            <StateMark state={state} />
          </button>
        ))}
      </div>
      <Text name="tenantId" label="Tenant" filter={filter} onSet={set} isFirst />
      <Text name="keyId" label="Key" filter={filter} onSet={set} />
      <Text name="agentId" label="Agent" filter={filter} onSet={set} />
      {/* Ids are for the search; a link may still filter by one. */}
      {filter.q !== undefined && <Text name="q" label="Id or ref" filter={filter} onSet={set} />}
      <Choice
        name="caller"
        label="Caller"
        values={[
          ['widget', 'widget'],
          ['console', 'console'],
        ]}
        filter={filter}
        onSet={set}
      />
      <Choice
        name="reason"
        label="Ended by"
        values={REASON_NAMES.map((reason) => [reason, reasonWords(reason)] as const)}
        filter={filter}
        onSet={set}
      />
      <Choice name="from" label="Started" values={TIMES} filter={filter} onSet={set} />
      {isFiltered && (
        <button type="button" class="quiet" onClick={() => onChange({})}>
          Clear
        </button>
      )}
    </form>
  );
}

interface FieldProps {
  readonly name: FilterName;
  readonly label: string;
  readonly filter: Filter;
  readonly onSet: (name: FilterName, value: string) => void;
}

function Text({ name, label, filter, onSet, isFirst = false }: FieldProps & { readonly isFirst?: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  const value = filter[name] ?? '';
  // What the address says holds, also after a step back.
  useEffect(() => {
    if (field.current !== null) field.current.value = value;
  }, [value]);
  const take = (): void => {
    const typed = field.current?.value ?? '';
    if (typed.trim() !== value) onSet(name, typed);
  };
  return (
    <input
      ref={field}
      class={value === '' ? '' : 'set'}
      type="text"
      aria-label={label}
      placeholder={label}
      data-filter={isFirst ? 'first' : undefined}
      maxLength={128}
      spellcheck={false}
      autocomplete="off"
      defaultValue={value}
      onChange={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
    />
  );
}

interface ChoiceProps extends FieldProps {
  readonly values: readonly (readonly [value: string, words: string])[];
}

function Choice({ name, label, values, filter, onSet }: ChoiceProps) {
  const value = filter[name] ?? '';
  const isKnown = value === '' || values.some(([each]) => each === value);
  return (
    <select
      class={value === '' ? '' : 'set'}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onSet(name, currentTarget.value)}
    >
      <option value="">{label}: any</option>
      {values.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  );
}
