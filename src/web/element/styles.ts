import css from './style.css?inline';

let sheet: CSSStyleSheet | undefined;

/**
 * Styles a shadow root in a way that strict policies allow: with a constructed style sheet, which they do not restrict. Browsers without
 * these (before 2023) load the same styles as a file, which the page's `style-src` must allow.
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
