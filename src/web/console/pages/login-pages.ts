/** Pages about what people did and how they logged in. They share one file, because every window soon loads all pages. */
export { AuditPage } from './audit.tsx';
export { ChallengesPage } from './challenges.tsx';
export { LoginsPage } from './logins.tsx';
export { OwnLoginsPage } from './own-logins.tsx';
