/** Pages that are lists: one file, because each window gets all pages soon. */
export { AuditPage } from './audit.tsx';
export { CallsPage } from './calls.tsx';
export { ChallengesPage } from './challenges.tsx';
export { LoginsPage } from './logins.tsx';
export { SessionsPage } from './sessions.tsx';
