import type { DemoConfig } from '../../protocol/site-data.ts';
import type { SwitchboardWidgetElement } from '../element/api.ts';
// oxlint-disable-next-line import/default -- the build makes it the file's text
import source from './example.js?raw';
import { element } from './elements.ts';

/** The element's attributes for the key, tenant and agent of this page. */
function tagOf({ widgetKey, tenantId, agentId }: DemoConfig): readonly (readonly [string, string])[] {
  return [
    ['widget-key', widgetKey ?? 'YOUR_WIDGET_KEY'],
    ['tenant-id', tenantId ?? 'YOUR_TENANT'],
    ['agent-id', agentId ?? 'YOUR_AGENT'],
  ];
}

/**
 * Puts the element on the page, as any page would, and lets the button beside it begin a conversation in writing.
 * @param own attributes that only this page sets
 */
export function placeElement(config: DemoConfig, own: Readonly<Record<string, string>>): SwitchboardWidgetElement {
  const widget = document.createElement('switchboard-widget');
  const attributes = [...tagOf(config), ['placement', 'inline'] as const, ...Object.entries(own)];
  for (const [name, value] of attributes) widget.setAttribute(name, value);
  element('live', HTMLElement).append(widget);
  element('write', HTMLButtonElement).addEventListener('click', () => widget.write());
  return widget;
}

/** Shows what another page needs: the tag, or the code for doing without the element. */
export function showTag(config: DemoConfig): void {
  const attributes = tagOf(config).map(([name, value]) => ` ${name}="${value}"`);
  const tag = `<script src="${location.origin}/switchboard-widget.js" defer></script>
<switchboard-widget${attributes.join('')}></switchboard-widget>`;
  element('tag', HTMLElement).replaceChildren(...coloured(tag));
  const code = source.replace("'../widget/main.ts'", `'${location.origin}/widget.mjs'`).trim();
  element('code', HTMLElement).replaceChildren(...coloured(code));
  element('key-note', HTMLElement).hidden = config.keyOrigin === null;
  element('key-origin', HTMLElement).textContent = config.keyOrigin;
}

/** The parts of HTML and JavaScript to colour; the groups are classes of ../shared/frame.css. One pattern is enough for this page's code. */
const tokens =
  /(?<comment>\/\*[^]*?\*\/|(?:^|(?<=\s))\/\/.*$)|(?<text>"[^"]*"|'[^']*'|`[^`]*`)|(?<word>(?<=<\/?)[\w-]+|\b(?:const|let|await|async|function|return|if|try|catch|import|from|export|undefined)\b)|(?<key>[\w-]+(?=="))/gm;

/** Code as DOM nodes, with its parts coloured. */
function coloured(code: string): Node[] {
  const pieces: Node[] = [];
  let from = 0;
  for (const match of code.matchAll(tokens)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? [];
    const piece = document.createElement('span');
    piece.className = kind;
    piece.textContent = match[0];
    pieces.push(new Text(code.slice(from, match.index)), piece);
    from = match.index + match[0].length;
  }
  return [...pieces, new Text(code.slice(from))];
}
