import { createHmac, createSecretKey } from 'node:crypto';
import { Lru } from '../kernel/collections.ts';

const CAPACITY = 20_000;

export type Subjects = ReturnType<typeof createSubjects>;

/**
 * Whom usage and limits are counted for: 32 hex digits that name a caller without revealing the address (docs/contract.md, section 4.3, Subject).
 * @param installationKey 32 random bytes that outlive every other secret: a new key means new subjects.
 */
export function createSubjects(installationKey: Buffer) {
  const key = createSecretKey(installationKey);
  const known = new Lru<string>(CAPACITY);

  function subjectOf(name: string): string {
    const hit = known.get(name);
    if (hit !== undefined) return hit;
    const subject = createHmac('sha256', key).update(name).digest('hex').slice(0, 32);
    known.set(name, subject);
    return subject;
  }

  return {
    /** A console user, by parsed address. */
    console: (email: string) => subjectOf(`console:${email}`),
    /** The user that a widget names, by parsed address. */
    widgetUser: (tenantId: string, email: string) => subjectOf(`widget:${plain(tenantId)}:${email}`),
    /** All users of a widget key that the widget does not name. */
    widgetKey: (tenantId: string, keyId: string) => subjectOf(`widget:${plain(tenantId)}:${plain(keyId)}`),
    /** The network address that a caller comes from, by its scope (an IPv4 address or an IPv6 /64). */
    address: (scope: string) => subjectOf(`address:${scope}`),
    /** All browsers that hold a device cookie for an address: as askers of its codes they count as one. */
    knownBrowsers: (email: string) => subjectOf(`browsers:${email}`),
    /** All addresses of a domain. */
    domain: (domain: string) => subjectOf(`domain:${domain}`),
    /** An operator in the audit; the name differs from the subject of the same person's sessions. */
    actor: (name: string) => subjectOf(`actor:${name}`),
    equal,
  };
}

/**
 * Escapes characters that have a meaning in a subject's name. An address always has an @ and an escaped key id never does, so that no id,
 * however odd, is counted as somebody's address. Without colons, no tenant can reach into another's names.
 */
function plain(id: string): string {
  return /[%:@]/.test(id) ? id.replace(/[%:@]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`) : id;
}

/** Compares two subjects in a time that does not reveal where they differ: the loop reads all of both, and branches on nothing that it reads. */
function equal(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
