/** The list of sessions, and what only it needs. */
export { SessionsPage } from './sessions.tsx';
