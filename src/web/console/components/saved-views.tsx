import { useLocation } from 'preact-iso';
import { useId } from 'preact/hooks';
import type { OperatorView } from '../../../protocol/operator/view.ts';
import { dialog, say } from '../data/dialogs.ts';
import { mayChange } from '../data/identity.ts';
import { deleteView, savedViews, saveView, viewHref } from '../data/saved-views.ts';
import { FormDialog, textOf } from './modal.tsx';

const MAX_NAME_LENGTH = 60;

/** Saves the list as shown under a name, by which it can be found here and in the palette. */
export function SaveView() {
  const { url, query } = useLocation();
  const open = (): void => {
    dialog.value = <SaveViewDialog href={url} tenantId={query['tenantId']} />;
  };
  return (
    <button type="button" class="quiet" onClick={open}>
      <span aria-hidden="true">☆</span> Save…
    </button>
  );
}

function SaveViewDialog({ href, tenantId }: { readonly href: string; readonly tenantId: string | undefined }) {
  const id = useId();
  return (
    <FormDialog
      title="Save the view"
      verb="Save"
      send={(data) => saveView(textOf(data, 'name'), href, data.has('isShared') ? tenantId : undefined)}
      done={({ view }) => `View ${view.name} saved`}
    >
      <p>Its filter and its order, for you. The same name replaces what it named before.</p>
      <label for={id}>Name of the view</label>
      <input
        id={id}
        name="name"
        type="text"
        required
        pattern=".*\S.*"
        maxLength={MAX_NAME_LENGTH}
        autocomplete="off"
        autofocus
      />
      {tenantId !== undefined && mayChange.value && (
        <label>
          <input type="checkbox" name="isShared" /> Whoever is shown {tenantId} sees it as well
        </label>
      )}
    </FormDialog>
  );
}

/** The saved views of the list that is shown. */
export function SavedViews() {
  const { path, url } = useLocation();
  const views = savedViews.value.filter(({ href }) => href.split('?')[0] === path);
  if (views.length === 0) return null;
  const forget = async (view: OperatorView): Promise<void> => {
    if (view.tenantId !== null) dialog.value = <DeleteSharedDialog view={view} />;
    else if (!(await deleteView(view.id)).ok) say('It could not be removed: try again');
  };
  return (
    <ul class="saved" aria-label="Saved views">
      {views.map((view) => (
        <li key={view.id}>
          <a href={viewHref(view)} aria-current={view.href === url ? 'page' : undefined}>
            <span aria-hidden="true">★</span> {view.name}
          </a>
          {(view.isOwn || mayChange.value) && (
            <button type="button" class="quiet" aria-label={`Remove ${view.name}`} onClick={() => void forget(view)}>
              ×
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Deletes a shared view, for others too. */
function DeleteSharedDialog({ view: { id, name, tenantId, isOwn } }: { readonly view: OperatorView }) {
  return (
    <FormDialog
      isDangerous
      title={`Delete the view ${name}`}
      verb="Delete"
      send={() => deleteView(id)}
      done={`View ${name} deleted`}
    >
      <p>
        {isOwn ? 'You' : 'Somebody else'} saved it for {tenantId}: whoever is shown that tenant loses it as well.
      </p>
    </FormDialog>
  );
}
