import { textToCopy } from '../data/dialogs.ts';
import { Modal } from '../parts/modal.tsx';

/** For browsers that let no page copy, which is so without HTTPS. */
export function CopyDialog() {
  const text = textToCopy.value;
  if (text === undefined) return null;
  return (
    <Modal title="Copy" onClose={() => (textToCopy.value = undefined)}>
      <h2>Copy it from here</h2>
      <textarea
        readOnly
        rows={6}
        aria-label="Text to copy"
        value={text}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <form method="dialog" class="buttons">
        <button>Close</button>
      </form>
    </Modal>
  );
}
