// npm i express; SWITCHBOARD_KEY=w_… SWITCHBOARD_TOKEN=… node express.mjs
import express from 'express';
import { fileURLToPath } from 'node:url';

const { SWITCHBOARD_URL = 'http://localhost:3000', SWITCHBOARD_KEY, SWITCHBOARD_TOKEN, PORT = '4000' } = process.env;
// The origin of our pages. `switchboard keys issue` binds the key to it.
const ORIGIN = `http://localhost:${PORT}`;

const app = express().use(express.json());

// Replace this with your own login: here everybody is Ada.
app.use((request, response, next) => {
  request.user = { email: 'ada@example.com' };
  next();
});

app.get('/', (request, response) => response.sendFile(fileURLToPath(new URL('page.html', import.meta.url))));
app.get('/voice', ({ user }, response) => response.json({ switchboard: SWITCHBOARD_URL, email: user.email }));

// Creates a session for the user: the page cannot say that it is somebody else. Limits and totals are then the user's own.
const sessions = new Map();
app.post('/voice/session', async ({ user, headers }, response) => {
  const created = await fetch(`${SWITCHBOARD_URL}/api/session`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: ORIGIN,
      // Bot detection needs the headers of the visitor's browser, and refusals are in the visitor's language.
      'User-Agent': headers['user-agent'] ?? '',
      'Accept-Language': headers['accept-language'] ?? 'en',
    },
    body: JSON.stringify({ widgetKey: SWITCHBOARD_KEY, agentId: 'guide', email: user.email }),
  });
  const body = await created.json();
  if (created.ok) sessions.set(user.email, body.sm_session_id);
  response.status(created.status).json(body); // a refusal as well: the page shows its userMessage
});

// A tool of the agent that costs money. The service token proves that the report is ours.
app.post('/voice/search', async ({ user }, response) => {
  const report = await fetch(`${SWITCHBOARD_URL}/api/auth/usage`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${SWITCHBOARD_TOKEN}` },
    body: JSON.stringify({ sm_session_id: sessions.get(user.email), tokens: 0, dollars: 0.005 }),
  });
  const { usage } = await report.json(); // 429: it was counted, and the user's daily quota is used up
  response.status(report.status).json({ found: 'The museum opens at ten.', usage });
});

app.listen(PORT, () => console.log(`Listening at ${ORIGIN}`));
