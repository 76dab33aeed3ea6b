import { isLoopback } from '../kernel/addresses.ts';
import { html, type Html } from './html.ts';
import type { KeptMail } from '../mail/contract.ts';
import { Refusal } from '../protocol/refusal.ts';
import { isLocal } from '../http/client-address.ts';
import type { Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import { iso } from '../kernel/time.ts';
import { sendPage, pageRoute, webFile } from './files.ts';
import { masthead } from './home.ts';

/** The development mailbox: only reachable from this machine, because it holds login codes. */
export function mailboxRoute(box: NonNullable<Services['core']['mailbox']>, publicUrl: () => string): Route {
  const shell = webFile('home/index.html');
  return pageRoute('/dev/mail', (call) =>
    isLoopback(publicUrl()) && isLocal(call)
      ? sendPage(call, shell, { title: 'Development mailbox', share: '', content: mailbox(box.list()) })
      : new Refusal(
          'FORBIDDEN',
          'The development mailbox opens only on the machine itself, at http://localhost; codes are also on its terminal.',
        ),
  );
}

function mailbox(mails: readonly KeptMail[]): Html {
  const articles = mails.map(
    ({ to, subject, text, sentAtMs }) =>
      html`<article class="mail">
        <h2>${subject}</h2>
        <p>To ${to}, ${time(sentAtMs)}</p>
        <pre>${text.trim()}</pre>
      </article>`,
  );
  const none = html`<p class="empty">
    No mail yet. <a href="/console/login">Ask for a login code</a>, then reload this page.
  </p>`;
  return html`${masthead([{ path: '/console', name: 'Console', about: '' }])}
    <main class="narrow">
      <h1>Development mailbox</h1>
      <p>No mail leaves this machine while SMTP_URL is not set. The last 50 mails, newest first.</p>
      ${articles.length === 0 ? none : articles}
    </main>`;
}

function time(atMs: number): Html {
  const instant = iso(atMs);
  return html`<time datetime="${instant}">${instant.slice(0, 10)} ${instant.slice(11, 19)} UTC</time>`;
}
