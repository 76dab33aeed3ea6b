/** Pages of what people did, and of how they logged in: one file, because each window gets all pages soon. */
export { AuditPage } from './audit.tsx';
export { ChallengesPage } from './challenges.tsx';
export { LoginsPage } from './logins.tsx';
export { OwnLoginsPage } from './own-logins.tsx';
