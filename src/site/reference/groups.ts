/** The groups of operations by who they are for, which their tags say. */
export interface Group {
  readonly id: string;
  readonly title: string;
  readonly tag: string;
  readonly about: string;
}

export const groups: readonly Group[] = [
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
    id: 'operators',
    title: 'Operators',
    tag: 'Operators',
    about: 'What the console shows and does: sessions and why they ended, refusals, usage, keys, logins, processes.',
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
