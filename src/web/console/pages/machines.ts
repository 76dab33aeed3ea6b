/** Pages of one machine each: one file, because each window gets all pages soon. */
export { CallPage } from './call.tsx';
export { ChallengePage } from './challenge.tsx';
export { LoginDetailPage } from './login-detail.tsx';
export { SessionPage } from './session.tsx';
export { CallsPage } from './calls.tsx';
