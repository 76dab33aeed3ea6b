import css from './style.css?inline';

let sheet: CSSStyleSheet | undefined;

/**
 * Styles a shadow root as strict policies allow: with a sheet that a script made, which they do not govern. A browser that has none
 * (before 2023) loads the same as a file, which the page's `style-src` has to allow.
 */
export function applyStyles(root: ShadowRoot, baseUrl: string): void {
  try {
    if (sheet === undefined) {
      const made = new CSSStyleSheet();
      made.replaceSync(css);
      sheet = made;
    }
    root.adoptedStyleSheets = [sheet];
  } catch {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL('switchboard-widget.css', baseUrl).href;
    root.prepend(link);
  }
}
