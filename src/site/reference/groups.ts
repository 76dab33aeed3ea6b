import type { Endpoint } from './document.ts';

/** A page of the reference. */
export interface ReferencePage {
  /** The last part of its path: `keys` is /docs/reference/keys. */
  readonly id: string;
  readonly title: string;
  /** One sentence about its content. */
  readonly about: string;
}

/** Operations for the same audience, by tag and, where a tag has too many, by the subject of their paths. */
interface Group extends ReferencePage {
  readonly tag: string;
  /** The path segments after `/api/operator/`. */
  readonly of?: readonly string[];
}

const groups: readonly Group[] = [
  {
    id: 'pages',
    title: 'Pages and widgets',
    tag: 'Voice sessions',
    about:
      'What a page does to talk: open a session, keep it alive, open its call, end it. The SDK does all of it; these are for those who write their own.',
  },
  {
    id: 'back-ends',
    title: 'Back ends',
    tag: 'Usage',
    about: 'What your own server tells with a service token: tokens and dollars that count against the day of a user.',
  },
  {
    id: 'vendor-paths',
    title: 'Vendor paths',
    tag: 'Vendor paths',
    about:
      'What software that speaks to a vendor asks for under the vendor’s own paths: another base URL and key is all it needs.',
  },
  {
    id: 'sessions',
    title: 'Operators: sessions and calls',
    tag: 'Operators',
    of: ['overview', 'activity', 'sessions', 'calls', 'refusals', 'changes', 'machines', 'feed'],
    about: 'What runs and what ran, why each session ended or was refused, and how an operator ends one.',
  },
  {
    id: 'usage',
    title: 'Operators: usage and budgets',
    tag: 'Operators',
    of: ['usage', 'export', 'reconciliation', 'budgets', 'stop', 'resume', 'what-if'],
    about:
      'Tokens and dollars by day, what the provider says of them, budgets, what a change would have done, and the emergency stop.',
  },
  {
    id: 'keys',
    title: 'Operators: keys and secrets',
    tag: 'Operators',
    of: ['keys', 'secrets', 'settings'],
    about: 'Widget keys with their limits, the secrets of tools and webhooks, and the settings that are in force.',
  },
  {
    id: 'webhooks',
    title: 'Operators: webhooks',
    tag: 'Operators',
    of: ['webhooks'],
    about: 'Where facts are delivered, what was delivered, and sending it again.',
  },
  {
    id: 'people',
    title: 'Operators: people and processes',
    tag: 'Operators',
    of: ['me', 'views', 'audit', 'logins', 'challenges', 'addresses', 'nodes', 'search'],
    about:
      'Who is logged in, what operators did, addresses that are locked out, challenges to bots, and the processes of the service.',
  },
  {
    id: 'console-login',
    title: 'Console login',
    tag: 'Console login',
    about: 'A code by e-mail in exchange for a cookie.',
  },
  {
    id: 'health',
    title: 'Health',
    tag: 'Operations',
    about: 'What load balancers, orchestrators and Prometheus ask.',
  },
];

export const sockets: ReferencePage = {
  id: 'sockets',
  title: 'Sockets',
  about: 'The frames of the two WebSockets: one that holds a session, and one that tells operators what happens.',
};

export const shapes: ReferencePage = {
  id: 'shapes',
  title: 'Shapes',
  about: 'Objects that stand in several replies; generated clients have a type of each of these names.',
};

export const errors: ReferencePage = {
  id: 'errors',
  title: 'Error codes',
  about: 'Every code that a client can receive, why, and what to do.',
};

/** All pages but the first, which is /docs, in the order of the list. */
export const referencePages: readonly ReferencePage[] = [...groups, sockets, shapes, errors];

/** The groups of an operation: exactly one, otherwise the reference is incomplete. */
export function groupsOf({ path, operation }: Endpoint): readonly Group[] {
  const [, part = ''] = /^\/api\/operator\/([^/]+)/.exec(path) ?? [];
  return groups.filter(({ tag, of }) => operation.tags.includes(tag) && (of === undefined || of.includes(part)));
}

/** The path of a page of the reference. @param place the entry on it, such as `createSession` or `NOT_FOUND` */
export function referencePath({ id }: Pick<ReferencePage, 'id'>, place?: string): string {
  return `/docs/reference/${id}${place === undefined ? '' : `#${place}`}`;
}

/** The address of an operation's entry. */
export function operationPath(endpoint: Endpoint): string {
  const [group] = groupsOf(endpoint);
  return group === undefined ? '/docs' : referencePath(group, endpoint.operation.operationId);
}
