/** The page's elements by id. @throws Error for an id that the page does not have */
export function element<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${type.name} with the id ${id}`);
  return found;
}

/** Shows a text, or hides the element if the text is empty. */
export function say(where: HTMLElement, text: string): void {
  where.textContent = text;
  where.hidden = text === '';
}
