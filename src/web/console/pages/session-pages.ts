/** Pages about machines, and a dialog that only one page opens. They share one file, because every window soon loads all pages. */
export { CallPage } from './call.tsx';
export { ChallengePage } from './challenge.tsx';
export { LoginDetailPage } from './login-detail.tsx';
export { SessionPage } from './session.tsx';
export { CallsPage } from './calls.tsx';
export { EndManyDialog } from './sessions/end-many-dialog.tsx';
