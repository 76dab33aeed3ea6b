import type { Signal } from '@preact/signals';

interface Props {
  readonly list: { readonly nextCursor: Signal<string | null>; more(): Promise<void> };
  readonly words: string;
}

/** The way to the next page of a list, where there is one. */
export function PagedFoot({ list, words }: Props) {
  if (list.nextCursor.value === null) return null;
  return (
    <p class="more">
      <button type="button" onClick={() => void list.more()}>
        {words}
      </button>
    </p>
  );
}
