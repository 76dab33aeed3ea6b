/** How long the button says that it has copied. */
const TOLD_MS = 1500;

/** Makes the buttons work that copy the code beside them. They are hidden until this has run. */
export function startCopying(): void {
  document.documentElement.classList.add('live');
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('button.copy') : null;
    const code = button?.closest('.code')?.querySelector('pre');
    if (button && code) void copy(button, code);
  });
}

/** For pages whose HTML has no buttons: adds one to the title of each code block. */
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
    // Fails over plain HTTP, and if the visitor forbids it. Then the code is at least selected.
    getSelection()?.selectAllChildren(code);
    told = 'Selected';
  }
  button.textContent = told;
  setTimeout(() => (button.textContent = 'Copy'), TOLD_MS);
}
