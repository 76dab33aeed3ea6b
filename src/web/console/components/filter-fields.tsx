/** Fields of a filter. Each choice takes effect at once; an empty value means that nothing is chosen. */
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { FilterOf } from '../data/filter.ts';
import { queryText } from '../data/query.ts';
import { readSuggestions, suggestionsOf, type Suggested } from '../data/suggestions.ts';
import { momentText } from './times.tsx';
import { SaveView } from './saved-views.tsx';

/** The filter in the page's address. Changing it keeps the order in which a list is sorted. */
export function useFilter<Name extends string>(names: readonly Name[]) {
  const { path, query, route } = useLocation();
  const filter = Object.fromEntries(names.map((name) => [name, query[name]?.trim() || undefined])) as FilterOf<Name>;
  const text = queryText(filter);
  const change = (next: FilterOf<Name>): void => route(path + queryText({ ...next, sorted: query['sorted'] }));
  const field = (name: Name) => ({
    value: filter[name] ?? '',
    onSet: (value: string): void => change({ ...filter, [name]: value.trim() }),
  });
  return {
    filter,
    /** The filter as a query with its question mark; empty if nothing is chosen. */
    text,
    /** The properties of the field with that name. */
    field,
    /** Chooses nothing; undefined if nothing is chosen. */
    onClear: text === '' ? undefined : (): void => change({}),
  };
}

interface FilterFormProps {
  readonly children: ComponentChildren;
  /** Called to choose nothing; undefined if nothing is chosen. */
  readonly onClear?: (() => void) | undefined;
  /** Whether the list can be saved as a view. */
  readonly isSavable?: boolean;
}

export function FilterForm({ children, onClear, isSavable = false }: FilterFormProps) {
  return (
    <form class="filter" role="search" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      {children}
      {onClear !== undefined && (
        <>
          <button type="button" class="quiet" onClick={onClear}>
            Clear
          </button>
          {isSavable && <SaveView />}
        </>
      )}
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onSet: (value: string) => void;
}

interface TextProps extends FieldProps {
  /** Whether the key `f` focuses it. */
  readonly isFirst?: boolean;
  /** What to suggest while somebody types. */
  readonly suggest?: Suggested;
}

export function Text({ label, value, onSet, isFirst = false, suggest }: TextProps) {
  const listId = useId();
  const { query } = useLocation();
  const field = useRef<HTMLInputElement>(null);
  // The field shows what the address says, also after a step back.
  useEffect(() => {
    if (field.current !== null) field.current.value = value;
  }, [value]);
  const take = (): void => {
    const typed = field.current?.value ?? '';
    if (typed.trim() !== value) onSet(typed);
  };
  const input = (
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
      list={suggest && listId}
      onFocus={() => suggest !== undefined && void readSuggestions()}
    />
  );
  if (suggest === undefined) return input;
  return (
    <>
      {input}
      <datalist id={listId}>
        {suggestionsOf(suggest, query['tenantId'] ?? '').map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

interface ChoiceProps extends FieldProps {
  readonly values: readonly (readonly [value: string, words: string])[];
  /** The label for choosing nothing. */
  readonly none?: string;
}

const INSTANT = /^\d{4}-\d\d-\d\dT.+Z$/;

export function Choice({ label, value, values, none = `${label}: any`, onSet }: ChoiceProps) {
  const isKnown = value === '' || values.some(([each]) => each === value);
  return (
    <select
      class={value === '' ? '' : 'set'}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onSet(currentTarget.value)}
    >
      <option value="">{none}</option>
      {values.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
      {!isKnown && <option value={value}>{INSTANT.test(value) ? momentText(Date.parse(value)) : value}</option>}
    </select>
  );
}

/** A choice that is kept in the page's address under a name. */
export function AddressChoice({ name, ...choice }: Pick<ChoiceProps, 'label' | 'values'> & { readonly name: string }) {
  const { path, query, route } = useLocation();
  const set = (value: string): void => route(path + queryText({ ...query, [name]: value }));
  return <Choice {...choice} value={query[name] ?? ''} onSet={set} />;
}

/** A choice of one out of a few that are all visible. */
export function Chips({ label, value, values, onSet }: Omit<ChoiceProps, 'none'>) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {values.map(([each, words]) => (
        <button key={each} type="button" class="chip" aria-pressed={value === each} onClick={() => onSet(each)}>
          {words}
        </button>
      ))}
    </div>
  );
}
