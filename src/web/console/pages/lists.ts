/** The list of sessions, and what it alone needs. */
export { SessionsPage } from './sessions.tsx';
