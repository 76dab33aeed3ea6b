/**
 * Logs into the console by the code that the development mailbox shows.
 * @returns the cookie, as a browser sends it
 */
export async function logIn(port, email) {
  const origin = `http://localhost:${port}`;
  const post = (path, body) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify(body),
    });
  const sent = await post('/api/auth/otp/send', { email });
  if (!sent.ok) throw new Error(`sending a code answered ${sent.status}: ${await sent.text()}`);
  const mails = await (await fetch(`${origin}/dev/mail`)).text();
  const [code] = /\b\d{6}\b/.exec(mails) ?? [];
  const reply = await post('/api/auth/otp/verify', { email, code });
  if (!reply.ok) throw new Error(`logging in answered ${reply.status}: ${await reply.text()}`);
  return reply.headers.get('set-cookie').split(';', 1)[0];
}
