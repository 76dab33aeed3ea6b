// oxlint-disable-next-line import/default -- the build makes it the file's text
import source from './example.js?raw';
import { element } from './elements.ts';

/** Shows the source that this page runs, with the address that another page would load the SDK from. */
export function showCode(): void {
  const text = source.replace("'../widget/main.ts'", `'${location.origin}/widget.mjs'`).trim();
  const code = element('code', HTMLElement);
  const copy = element('copy', HTMLButtonElement);
  code.textContent = text;
  copy.addEventListener('click', () => {
    copyText(text, code).then((isCopied) => {
      copy.textContent = isCopied ? 'Copied' : 'Selected: press Ctrl+C';
    }, console.error);
  });
}

/** Without https there is no clipboard: then the text is selected, for the keyboard. */
async function copyText(text: string, code: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection()?.selectAllChildren(code);
    return false;
  }
}
