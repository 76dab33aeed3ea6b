import { z } from 'zod';
import { string } from '../fields.ts';

/** POST /api/operator/search: finds something by the form of what the operator typed (docs/contract.md, section 8). */
export const searchRequest = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1)
    .max(254)
    .meta({
      examples: ['acme'],
      description:
        'What to find: an id, a ref, a key, a tenant, 6 or more digits of a hash, an action, or an e-mail address',
    }),
});

const searchHit = z.object({
  kind: z.enum(['session', 'call', 'login', 'request', 'key', 'tenant', 'audit']).describe('What was found'),
  id: string('The id or ref of what was found', 'acme'),
  label: string('A label for people', 'Acme'),
  href: string('The console page that shows it', '/console/keys'),
});

export type SearchHit = z.infer<typeof searchHit>;

export const searchReply = z.object({ hits: z.array(searchHit).max(20).describe('What was found') });
