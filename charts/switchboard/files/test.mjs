// What `helm test` asks: whether the service is ready, and whether this image opens and ends a session on a server of its own.
const { SERVICE, OWN } = process.env;

async function ask(address, init) {
  const reply = await fetch(address, init);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${address} answered ${reply.status}: ${text}`);
  return JSON.parse(text);
}

const post = (path, body) =>
  ask(`${OWN}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: OWN },
    body: JSON.stringify(body),
  });

await ask(`${SERVICE}/readyz`);
const key = 'w_demo_local_00000000000000000000000000000000';
const { sm_session_id } = await post('/api/session', { widgetKey: key, agentId: 'guide' });
await post('/api/realtime/end', { sm_session_id });
console.log('The service is ready, and the image opens and ends a session.');
