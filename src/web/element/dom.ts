import type { ConversationState } from './conversation.ts';
import type { MainWords, Words } from './translations/message-types.ts';

/** A part of the view. */
export interface Part<W extends MainWords = Words> {
  readonly element: HTMLElement;
  readonly show: (look: { readonly state: ConversationState; readonly words: W }) => void;
}

type Child = Node | string;

/** Creates an element with these attributes. It parses no HTML and sets no style attribute. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Creates an element whose name is its class, for the element's own styles, and its part, for the page's. */
export function part<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  name: string,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return make(tag, { class: name, part: name }, ...children);
}

const SVG = 'http://www.w3.org/2000/svg';

/** An icon drawn with strokes, 24 by 24. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

/** Sets a text only if it differs, so that live regions do not announce it again. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Turns `[words](address)` in a text into links, if the address is safe to follow. */
export function linked(text: string): Child[] {
  return text.split(/(\[[^\]]*\]\([^)\s]*\))/).map((piece) => {
    const [, words, href] = /^\[(.*)\]\((.*)\)$/.exec(piece) ?? [];
    if (words === undefined || href === undefined) return piece;
    const link = make('a', { href, target: '_blank', rel: 'noopener' }, words);
    return /^https?:$/.test(link.protocol) ? link : words;
  });
}
