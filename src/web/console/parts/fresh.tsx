import { countText } from '../words/format.ts';

/** New rows that wait until somebody asks for them. */
export function Fresh({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  if (count === 0) return null;
  return (
    <button type="button" class="fresh" onClick={onShow}>
      {countText(count)} new ↑
    </button>
  );
}
