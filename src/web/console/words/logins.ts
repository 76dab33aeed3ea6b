/** How console logins end, in few words. One that is not known yet is shown by its name. */
const ENDS: Readonly<Record<string, string>> = {
  logout: 'logged out',
  replaced: 'replaced by a new login',
  violation: 'ended for a violation',
};

export function loginEndWords(reason: string): string {
  return ENDS[reason] ?? reason;
}
