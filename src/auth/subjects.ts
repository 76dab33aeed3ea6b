import { createHmac, createSecretKey } from 'node:crypto';
import { Lru } from '../kernel/lru.ts';

/** Whom usage and limits are counted for: 32 hex digits that name a caller without revealing the address (docs/contract.md, section 4.3, Subject). */
export interface Subjects {
  /** A console user, by parsed address. */
  console(email: string): string;
  /** The user that a widget names, by parsed address. */
  widgetUser(tenantId: string, email: string): string;
  /** All users of a widget key that the widget does not name. */
  widgetKey(tenantId: string, keyId: string): string;
  /** The network address that a caller comes from, by its scope (an IPv4 address or an IPv6 /64). */
  address(scope: string): string;
  /** All browsers that hold a device cookie for an address: as askers of its codes they count as one. */
  knownBrowsers(email: string): string;
  /** All addresses of a domain. */
  domain(domain: string): string;
  /** An operator in the audit; the name differs from the subject of the same person's sessions. */
  actor(name: string): string;
  /** Compares two subjects in a time that does not reveal where they differ. */
  equal(a: string, b: string): boolean;
}

const CAPACITY = 20_000;

/** @param installationKey 32 random bytes that outlive every other secret: a new key means new subjects. */
export function createSubjects(installationKey: Buffer): Subjects {
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
    console: (email) => subjectOf(`console:${email}`),
    widgetUser: (tenantId, email) => subjectOf(`widget:${plain(tenantId)}:${email}`),
    widgetKey: (tenantId, keyId) => subjectOf(`widget:${plain(tenantId)}:${plain(keyId)}`),
    address: (scope) => subjectOf(`address:${scope}`),
    knownBrowsers: (email) => subjectOf(`browsers:${email}`),
    actor: (name) => subjectOf(`actor:${name}`),
    domain: (domain) => subjectOf(`domain:${domain}`),
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

/** Subjects have the same length; the loop reads all of it and branches on nothing that it reads. */
function equal(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i += 1) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
