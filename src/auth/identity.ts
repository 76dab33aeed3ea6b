import type { ConsoleLogins } from './console-logins.ts';
import type { DeviceCookies } from './cookies.ts';
import type { LoginCodes } from './verify-code.ts';
import type { Subjects } from './subjects.ts';

/** Who a caller is, and how that is known. */
export interface Identity {
  readonly subjects: Subjects;
  /** Who may log in (CONSOLE_EMAILS). */
  readonly admits: (email: string) => boolean;
  readonly logins: ConsoleLogins;
  readonly codes: LoginCodes;
  readonly devices: DeviceCookies;
  /** The name of the service token that an Authorization header carries. */
  readonly serviceOf: (authorization: string | undefined) => string | undefined;
}
