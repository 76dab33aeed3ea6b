/** The service's reply to a page that creates a session. */
export const created = {
  id: 'sess_1',
  sm_session_id: 's:1:1',
  client_secret: { value: 'ek_1', expires_at: 0 },
  heartbeat: { intervalSec: 45 },
  limits: { maxMinutes: 15, maxIdleSec: 300 },
  call: { mode: 'direct', url: 'https://api.openai.com/v1/realtime/calls', dataChannel: 'open' },
};
