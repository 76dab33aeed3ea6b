/** Pages that are lists: one file, because each window gets all pages soon. */
export { AuditPage } from './audit.tsx';
export { ChallengesPage } from './challenges.tsx';
export { ChangesPage } from './changes.tsx';
export { LoginsPage } from './logins.tsx';
export { RefusalsPage } from './refusals.tsx';
export { SessionsPage } from './sessions.tsx';
