/** The lists of sessions and of calls: one file, because each window gets all pages soon. */
export { CallsPage } from './calls.tsx';
export { SessionsPage } from './sessions.tsx';
