import { escapeHtml } from '../../kernel/text.ts';

export interface LoginCode {
  /** Six digits. */
  readonly code: string;
  readonly expiresInMinutes: number;
  /** The address at which the login was requested; only its host is shown. */
  readonly publicUrl: string;
  /** Milliseconds since the Unix epoch. It also keeps mail programs from merging several codes into one conversation. */
  readonly requestedAtMs: number;
}

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * The mail with a login code. The code is neither in the subject nor in the first lines: those show on locked screens, and
 * subjects end up in the logs of every mail server on the way. There is no link, because people are told never to follow one to log in.
 * The colours are those of src/web/shared/tokens.css.
 */
export function loginCodeMail(input: LoginCode): RenderedMail {
  const site = new URL(input.publicUrl).host;
  const time = `${new Date(input.requestedAtMs).toISOString().slice(11, 16)} UTC`;
  const facts = {
    site,
    code: input.code,
    lifetime: input.expiresInMinutes === 1 ? '1 minute' : `${input.expiresInMinutes} minutes`,
    request: `It was requested at ${time} on ${new Date(input.requestedAtMs).toISOString().slice(0, 10)}.`,
  };
  return { subject: `Your login code for ${site} (${time})`, text: renderText(facts), html: renderHtml(facts) };
}

interface Facts {
  readonly site: string;
  readonly code: string;
  readonly lifetime: string;
  readonly request: string;
}

const ifNotYou =
  'If you did not ask for this code, you can ignore this mail: without the code nobody can log in. ' +
  'Nobody from us will ever ask you for it, by mail, by phone or in a chat.';

function renderText({ site, code, lifetime, request }: Facts): string {
  return [
    `Somebody, hopefully you, wants to log in to ${site} with this e-mail address.`,
    `Enter this code on the login page. It works once and expires in ${lifetime}:`,
    `    ${code}`,
    request,
    ifNotYou,
    `Sent automatically by ${site}. Please do not reply.`,
    '',
  ].join('\n\n');
}

/** Tables and inline styles, because mail programs support little else; the style sheet only adds the dark colours. */
function renderHtml(facts: Facts): string {
  const site = escapeHtml(facts.site);
  const code = escapeHtml(facts.code);
  const lifetime = escapeHtml(facts.lifetime);
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>Your login code for ${site}</title>
<style>${DARK_STYLES}</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f4f3ee;">
<div style="display:none;max-height:0;overflow:hidden;">Expires in ${lifetime}. If you did not ask for it, ignore this mail.</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f4f3ee">
<tr><td align="center" style="padding:24px 12px;">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#fffefb" style="max-width:480px;background-color:#fffefb;border:1px solid #cfccc0;border-radius:10px;">
<tr><td style="padding:24px;text-align:left;">
${MARK}
<h1 class="strong" style="margin:0 0 12px;font-family:${SANS};font-size:20px;line-height:28px;font-weight:600;color:#1c211e;">Log in to ${site}</h1>
<p class="strong" style="margin:0 0 20px;font-family:${SANS};font-size:16px;line-height:24px;color:#1c211e;">Enter this code on the login page. It works once and expires in <strong>${lifetime}</strong>.</p>
<p class="code" style="margin:0 0 20px;padding:16px 8px;border-radius:8px;background-color:#d9ece4;font-family:${MONO};font-size:32px;line-height:40px;font-weight:700;letter-spacing:6px;text-align:center;color:#1c211e;-webkit-user-select:all;user-select:all;">${code}</p>
<p class="muted" style="${MUTED}">${escapeHtml(facts.request)}</p><p class="muted" style="${MUTED}">${escapeHtml(ifNotYou)}</p>
<p class="muted" style="${MUTED}margin-bottom:0;">Sent automatically by ${site}. Please do not reply.</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

const SANS = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Courier New',monospace";
const MUTED = `margin:0 0 12px;font-family:${SANS};font-size:14px;line-height:21px;color:#54594f;`;
/** Three jacks on one cord, drawn with table cells: a picture would have to be loaded or attached, and most mail programs show no SVG. */
const JACK = `<td width="10"><div class="jack" style="width:6px;height:6px;border:2px solid #0b6651;border-radius:5px;font-size:0;line-height:0;">&nbsp;</div></td>`;
const CORD = `<td width="6" style="width:6px;font-size:0;line-height:0;"><div class="cord" style="height:2px;background-color:#0b6651;">&nbsp;</div></td>`;
const MARK = `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 20px;"><tr>${JACK}${CORD}${JACK}${CORD}${JACK}<td class="strong" style="padding-left:10px;font-family:${SANS};font-size:14px;line-height:20px;font-weight:600;color:#1c211e;">Switchboard</td></tr></table>`;
const DARK_STYLES = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background-color: #131614 !important; }
  .card { background-color: #1b1f1c !important; border-color: #3a413b !important; }
  .strong { color: #e9ece6 !important; }
  .code { background-color: #1d3a30 !important; color: #e9ece6 !important; }
  .muted { color: #a9b0a6 !important; }
  .jack { border-color: #63c8a9 !important; }
  .cord { background-color: #63c8a9 !important; }
}
`;
