import { repository } from '../../config/build-info.ts';
import { isLoopback } from '../kernel/addresses.ts';
import { html, type Html } from './html.ts';
import { isLocal } from '../http/client-address.ts';
import type { Readiness } from '../protocol/health.ts';
import type { Call, Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import { assetRoute, pageRoute, sendFile, sendPage, shareTags, webFile } from './files.ts';
import { findDemo, policyFor, type DemoServices, type DemoTarget } from './demo.ts';

type HomeServices = DemoServices & Pick<Services, 'readiness'>;

interface Place {
  readonly path: string;
  readonly name: string;
  readonly about: string;
}

const places = {
  demo: { path: '/demo', name: 'Demo', about: 'Talk to an agent, and watch its session, its limits and the wire.' },
  console: { path: '/console', name: 'Console', about: 'Sessions as they run, why each ended, refusals, keys, cost.' },
  docs: { path: '/docs', name: 'Documentation', about: 'Guides, and every request, with examples to copy.' },
  mailbox: { path: '/dev/mail', name: 'Mailbox', about: 'Login codes arrive here while no mail server is set.' },
} as const satisfies Record<string, Place>;

/** The sources, where the build knows their address. */
const sources: readonly Place[] =
  repository === undefined ? [] : [{ path: repository, name: 'Sources', about: 'Code, guides, changelog.' }];

const ABOUT = 'A broker for voice conversations on web pages.';

/** The mark may use styles, to be lighter in dark mode, and load nothing. */
const markHeaders = [
  ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"],
  ['Cache-Control', 'public, max-age=86400'],
] as const;

/** The page at the bare address (docs/contract.md, section 2.7), and the mark of all pages. */
export function homeRoutes(services: HomeServices): Route[] {
  const shell = webFile('home/index.html');
  const mark = webFile('mark.svg');
  return [
    pageRoute('/', async (call) => {
      const state = await services.readiness();
      const share = shareTags(services.core.publicUrl(), '/', 'Switchboard', ABOUT);
      const demo = findDemo(services, call.request.headers['host']);
      // In production anybody may open the page, and it shows only whether the service is up.
      if (services.core.config.mode === 'production')
        return sendPage(call, shell, { title: 'Switchboard status', share, content: statusPage(state.ready, demo) });
      const content = homePage(state, demo, call, services);
      return sendPage(call, shell, { title: 'Switchboard', share, content }, policyFor(demo, services));
    }),
    assetRoute('home'),
    // Browsers request /favicon.ico on their own for pages that name no icon.
    ...['/mark.svg', '/favicon.ico'].map((path) => pageRoute(path, (call) => sendFile(call, mark, markHeaders))),
  ];
}

/** The header of the pages that the service writes itself. */
export function masthead(links: readonly Place[]): Html {
  const items = links.map(({ path, name }) => html`<a href="${path}">${name}</a>`);
  return html`<header class="masthead">
    <a class="wordmark" href="/"><img src="/mark.svg" width="24" height="24" alt="" />Switchboard</a>
    ${items.length > 0 && html`<nav aria-label="Elsewhere">${items}</nav>`}
  </header>`;
}

/** For strangers: whether the service works, but neither its parts nor its version. */
function statusPage(isUp: boolean, demo: DemoTarget | undefined): Html {
  const about = isUp
    ? 'Conversations can be started and go on.'
    : 'Something that the service needs does not answer. Conversations that are under way go on as far as they can; new ones may have to wait.';
  return html`${masthead([...(demo === undefined ? [] : [places.demo]), places.docs, ...sources])}
    <main class="narrow">
      <h1>Switchboard</h1>
      <p>${ABOUT}</p>
      <section class="standing" data-up="${isUp ? 'yes' : 'no'}" aria-label="Status">
        <p>${isUp ? 'Up' : 'Degraded'}</p>
      </section>
      <p>${about}</p>
    </main>`;
}

function homePage(state: Readiness, demo: DemoTarget | undefined, call: Call, { core }: HomeServices): Html {
  const { publicUrl, provider, mailbox } = core;
  const hasMailbox = mailbox !== undefined && isLoopback(publicUrl()) && isLocal(call);
  // Browsers can reach the echo only from its own machine.
  const isAnswered =
    demo !== undefined && (!provider.simulated || (provider.capabilities.call === 'brokered' && isLocal(call)));
  const links = [places.demo, places.console, places.docs, ...(hasMailbox ? [places.mailbox] : []), ...sources];
  return html`${masthead([])}
    <main>
      <div class="lede">
        <h1>Voice agents on your page, within limits that hold</h1>
        <p>
          Switchboard opens real-time voice sessions for web pages, keeps the provider’s key to itself, and ends a
          conversation when its time, its silence or the day’s budget is used up.
        </p>
      </div>
      ${standing(state, provider)}
      <ul class="places">
        ${links.map(
          ({ path, name, about }) =>
            html`<li>
              <a href="${path}"><strong>${name}</strong> <span>${about}</span></a>
            </li>`,
        )}
      </ul>
      ${embed(publicUrl(), demo, isAnswered)}${otherOrigins(demo)}
    </main>
    ${isAnswered && widget(demo)}`;
}

function standing({ ready, dependencies }: Readiness, provider: Services['core']['provider']): Html {
  const row = (name: string, value: string, isAway = false): Html =>
    html`<div>
      <dt>${name}</dt>
      <dd${isAway && html` class="away"`}>${value}</dd>
    </div>`;
  const rows = Object.entries(dependencies).map(([name, { ok, ms }]) =>
    ok ? row(name, `${ms} ms`) : row(name, 'does not answer', true),
  );
  const words = provider.simulated ? `${provider.name}: set OPENAI_API_KEY for a model` : provider.name;
  return html`<section class="standing" data-up="${ready ? 'yes' : 'no'}" aria-label="Status">
    <p>${ready ? 'Up, and ready for conversations' : 'Degraded'}</p>
    <dl>${rows}${row('provider', words)}</dl>
  </section>`;
}

/** The element, as its tag embeds it on any page. */
function widget({ key, tenant, agentId }: DemoTarget): Html {
  return html`<script src="/switchboard-widget.js" defer></script>
    <switchboard-widget
      widget-key="${key.key}"
      tenant-id="${tenant.id}"
      agent-id="${agentId ?? ''}"
    ></switchboard-widget>`;
}

function embed(publicUrl: string, demo: DemoTarget | undefined, isHere: boolean): Html {
  const tag = `<script src="${publicUrl}/switchboard-widget.js" defer></script>
<switchboard-widget
  widget-key="${demo?.key.key ?? 'YOUR_WIDGET_KEY'}"
  tenant-id="${demo?.tenant.id ?? 'YOUR_TENANT'}"
  agent-id="${demo?.agentId ?? 'YOUR_AGENT'}"></switchboard-widget>`;
  return html`<section class="embed" aria-labelledby="embed-title">
    <h2 id="embed-title">Put it on a page</h2>
    <div class="code">
      <div class="code-title">HTML<button type="button" class="copy">Copy</button></div>
      <pre tabindex="0" aria-label="The tag">${tag}</pre>
    </div>
    ${isHere && html`<p>It puts the button in the corner of this page: press it.</p>`}
  </section>`;
}

function otherOrigins(demo: DemoTarget | undefined): Html {
  const command = `npm start -- keys issue --tenant ${demo?.tenant.id ?? 'acme'} --site shop --origin https://shop.example`;
  const why =
    demo === undefined
      ? html`A widget key works on the pages of one origin.`
      : html`The key above works on pages of <strong>${demo.key.origin}</strong> only.`;
  return html`<section class="embed" aria-labelledby="key-title">
    <h2 id="key-title">On your own site</h2>
    <div class="code">
      <div class="code-title">Terminal<button type="button" class="copy">Copy</button></div>
      <pre tabindex="0" aria-label="The command">${command}</pre>
    </div>
    <p>
      ${why} Issue one for another in the <a href="/console/keys">console</a>, or by this command while the server is
      stopped.
    </p>
  </section>`;
}
