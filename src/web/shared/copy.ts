/** Says that it has worked for as long as somebody may look. */
const TOLD_MS = 1500;

/** The buttons that copy the code beside them. They are only shown where this runs. */
export function startCopying(): void {
  document.documentElement.classList.add('live');
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('button.copy') : null;
    const code = button?.closest('.code')?.querySelector('pre');
    if (button && code) void copy(button, code);
  });
}

/** For pages that are written without their buttons: the title of each code gets one. */
export function addCopyButtons(within: ParentNode): void {
  for (const title of within.querySelectorAll<HTMLElement>('.code-title')) {
    const button = document.createElement('button');
    const label = `Copy: ${title.textContent ?? ''}`;
    title.append(Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy', ariaLabel: label }));
  }
}

async function copy(button: Element, code: HTMLElement): Promise<void> {
  let told = 'Copied';
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
  } catch {
    // Not over plain HTTP, and not where the visitor forbids it: then the code is at least selected.
    getSelection()?.selectAllChildren(code);
    told = 'Selected';
  }
  button.textContent = told;
  setTimeout(() => (button.textContent = 'Copy'), TOLD_MS);
}
