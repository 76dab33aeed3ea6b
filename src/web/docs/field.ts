/** `/` goes to the search field and Escape empties it; the search is loaded when somebody first goes there. */
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
  // What matches is at the top, and not where somebody was reading.
  field.addEventListener('input', () => field.value !== '' && scrollTo(0, 0));
}
