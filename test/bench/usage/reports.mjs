// The product with sessions whose usage a back end reports.
import { postRequest } from '../http/requests.mjs';
import { createSessions } from '../switchboard.mjs';

/** Needed to report as a back end: what clients report of sessions whose calls are metered here does not count. */
export const SERVICE_TOKEN = 'bench-0123456789abcdef0123456789';
/** Ceilings that no run reaches. */
const ceilings = { WIDGET_MAX_TOKENS_DAILY: '1000000000000', WIDGET_MAX_DOLLARS_DAILY: '1000000' };

/**
 * Starts the product and adds `requests`, a usage report for each session, each of a visitor of its own.
 * @param start starts the product with the environment and options that it is given
 */
export async function startReports(start, dist, sessions) {
  const server = await start({ SERVICE_TOKENS: SERVICE_TOKEN, ...ceilings }, { dist });
  try {
    const { port } = server;
    const emails = Array.from({ length: sessions }, (_, n) => `user${n}@mail.example`);
    const ids = await createSessions(port, sessions, emails);
    const head = [`Authorization: Bearer ${SERVICE_TOKEN}`];
    const requests = ids.map((id) => {
      const body = { sm_session_id: id, tokens: 12, dollars: 0.0002 };
      return postRequest(port, '/api/auth/usage', `http://localhost:${port}`, body, head);
    });
    return { ...server, requests };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
