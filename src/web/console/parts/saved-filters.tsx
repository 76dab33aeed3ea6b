import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { closeDialog, dialog, say } from '../data/dialogs.ts';
import { forgetFilter, isSavable, savedFilters, saveFilter } from '../data/saved-filters.ts';
import { Modal } from './modal.tsx';

const MAX_NAME_LENGTH = 60;

/** Gives the filter of the list a name, under which it is found here and in the palette. */
export function SaveFilter({ href }: { readonly href: string }) {
  return (
    <button type="button" class="quiet" onClick={() => (dialog.value = <SaveFilterDialog href={href} />)}>
      <span aria-hidden="true">☆</span> Save…
    </button>
  );
}

function SaveFilterDialog({ href }: { readonly href: string }) {
  const id = useId();
  const name = useSignal('');
  const failure = useSignal('');
  const save = (): void => {
    const chosen = name.peek().trim();
    if (!isSavable(chosen + href)) {
      failure.value = 'An address is kept nowhere: not in a name, and not in a filter.';
      return;
    }
    saveFilter(chosen, href);
    say(`Filter ${chosen} saved`);
    closeDialog();
  };
  return (
    <Modal title="Save the filter" onClose={closeDialog}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <h2>Save the filter</h2>
        <p>This browser keeps it, for you alone. The same name replaces what it named before.</p>
        <label for={id}>Name of the filter</label>
        <input
          id={id}
          type="text"
          required
          pattern=".*\S.*"
          maxLength={MAX_NAME_LENGTH}
          autocomplete="off"
          autofocus
          value={name.value}
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
        {failure.value !== '' && (
          <p class="problem" role="alert">
            {failure}
          </p>
        )}
        <div class="buttons">
          <button class="primary">Save</button>
          <button type="button" onClick={closeDialog}>
            Cancel
          </button>
        </div>
      </form>
    </Modal>
  );
}

/** @param here the list as it is shown */
export function SavedFilters({ here }: { readonly here: string }) {
  if (savedFilters.value.length === 0) return null;
  return (
    <ul class="saved" aria-label="Saved filters">
      {savedFilters.value.map(({ name, href }) => (
        <li key={name}>
          <a href={href} aria-current={href === here ? 'page' : undefined}>
            <span aria-hidden="true">★</span> {name}
          </a>
          <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => forgetFilter(name)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
