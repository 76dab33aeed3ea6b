/**
 * Draws the README's picture, light and dark: `node scripts/draw-picture.mjs`. Forges cannot switch a single picture with the reader's theme,
 * so there are two versions of the same drawing, in the colours of src/web/shared/tokens.css.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const folder = new URL('docs/pictures/', root);

/** A theme's colours by name. */
async function readColours(theme) {
  const css = await readFile(new URL('src/web/shared/tokens.css', root), 'utf8');
  const pairs = css.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g);
  return Object.fromEntries([...pairs].map(([, name, light, dark]) => [name, theme === 'light' ? light : dark]));
}

const box = (x, y, width, height, title, lines, style = 'box') => `
  <rect class="${style}" x="${x}" y="${y}" width="${width}" height="${height}" rx="10"/>
  <text class="title" x="${x + width / 2}" y="${y + 30}">${title}</text>
${lines.map((line, i) => `  <text class="soft" x="${x + width / 2}" y="${y + 52 + i * 18}">${line}</text>`).join('\n')}`;

const arrow = (d, label, x, y, { both = false, anchor = 'middle', style = 'line' } = {}) => `
  <path class="${style}" d="${d}" marker-end="url(#head)"${both ? ' marker-start="url(#head)"' : ''}/>
${label.map((line, i) => `  <text class="label" x="${x}" y="${y + i * 17}" text-anchor="${anchor}">${line}</text>`).join('\n')}`;

function draw(c) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 368" role="img" aria-labelledby="t d">
  <title id="t">Switchboard between browsers and the provider</title>
  <desc id="d">Audio goes straight between the browser and the provider over WebRTC. The browser creates a session, sends its offer and
  heartbeats to Switchboard, and hears states, warnings and the end. Switchboard opens the call with your key, hears its usage and
  hangs up. Operators and back ends talk to Switchboard, which keeps its data in PostgreSQL and Redis.</desc>
  <style>
    text { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; fill: ${c.ink} }
    .title, .soft { text-anchor: middle }
    .title { font-size: 16px; font-weight: 650 }
    .soft, .label { fill: ${c['ink-soft']} }
    .label { font-size: 13px }
    .ground { fill: ${c.ground} }
    .box { fill: ${c.surface}; stroke: ${c['control-line']} }
    .own { fill: ${c['accent-soft']}; stroke: ${c.accent}; stroke-width: 2 }
    .store { fill: ${c.sunken}; stroke: ${c.line} }
    .line { fill: none; stroke: ${c['control-line']}; stroke-width: 1.75 }
    .voice { fill: none; stroke: ${c.accent}; stroke-width: 3 }
  </style>
  <defs>
    <marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
      <path d="M0 0 10 5 0 10z" fill="${c['control-line']}"/>
    </marker>
    <marker id="voice" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="12" markerHeight="12" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
      <path d="M0 0 10 5 0 10z" fill="${c.accent}"/>
    </marker>
  </defs>
  <rect class="ground" width="880" height="368" rx="14"/>${box(24, 28, 190, 92, 'Browser', ['your page', '&lt;switchboard-widget&gt;'])}${box(
    666,
    28,
    190,
    92,
    'Provider',
    ['of the voice model'],
  )}${box(300, 196, 280, 96, 'Switchboard', ['opens, keeps, meters and ends', 'every session; any number of nodes'], 'own')}${box(
    24,
    207,
    190,
    74,
    'Your back end',
    ['and operators'],
  )}${box(666, 207, 190, 74, 'PostgreSQL, Redis', ['or embedded'], 'store')}
  <path class="voice" d="M214 74H666" marker-start="url(#voice)" marker-end="url(#voice)"/>
  <text class="label" x="440" y="62" text-anchor="middle">the conversation: audio over WebRTC</text>${arrow('M150 120C170 176 236 196 300 216', ['session, offer,', 'heartbeats'], 150, 166, { anchor: 'end' })}${arrow(
    'M348 196C330 152 270 120 200 120',
    ['ticket, states,', 'warnings, end'],
    322,
    138,
    { anchor: 'start' },
  )}${arrow('M532 196C560 150 610 120 680 120', ['opens the call with your key,', 'hears usage, hangs up'], 648, 158, { anchor: 'start', both: true })}${arrow('M214 244H300', [], 0, 0, { both: true })}${arrow('M580 244H666', [], 0, 0, { both: true })}
  <text class="label" x="440" y="342" text-anchor="middle">It never carries audio, and no key of yours ever reaches a browser.</text>
</svg>
`;
}

await mkdir(folder, { recursive: true });
for (const theme of ['light', 'dark']) {
  const file = new URL(`how-it-works-${theme}.svg`, folder);
  await writeFile(file, draw(await readColours(theme)));
  console.log(fileURLToPath(file));
}
