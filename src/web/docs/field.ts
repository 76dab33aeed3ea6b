/** `/` focuses the search field and Escape empties it. The search is loaded when the field first gets the focus. */
export function startField(): void {
  const field = document.querySelector<HTMLInputElement>('#filter');
  if (!field) return;
  field.addEventListener('focus', () => void import('./search.ts').then(({ startSearch }) => startSearch(field)), {
    once: true,
  });
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type !== 'radio';
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
      field.select();
    }
    if (event.key === 'Escape' && event.target === field && field.value !== '') {
      field.value = '';
      field.dispatchEvent(new Event('input'));
    }
  });
  // The results are at the top of the page.
  field.addEventListener('input', () => field.value !== '' && scrollTo(0, 0));
}
