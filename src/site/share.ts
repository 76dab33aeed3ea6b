import { html, type Html } from './html.ts';

/** What chats and social networks show for a link to a page (https://ogp.me); they accept absolute addresses only. */
export function shareTags(publicUrl: string, path: string, title: string, description: string): Html {
  const properties = [
    ['og:type', 'website'],
    ['og:site_name', 'Switchboard'],
    ['og:title', title],
    ['og:description', description],
    ['og:url', `${publicUrl}${path}`],
    ['og:image', `${publicUrl}/share.png`],
    ['og:image:width', '1200'],
    ['og:image:height', '630'],
    ['og:image:alt', 'Switchboard: voice agents on your page, within limits that hold'],
  ] as const;
  return html`${properties.map(([property, content]) => html`<meta property="${property}" content="${content}" />`)}
    <meta name="twitter:card" content="summary_large_image" />`;
}
