import { z } from 'zod';
import { tenantId, tenantNamed, instant, string } from '../fields.ts';

/** What no view may contain: an e-mail address, a whole session id (the part after the ref is secret), and invisible characters. */
const KEPT_NOWHERE = /@|%40|s(?::|%3A)[0-9a-f]{32}(?::|%3A)[\w-]{8}|[\p{Cc}\p{Cs}]/iu;

const kept = (max: number, form: RegExp, message: string): z.ZodString =>
  z
    .string()
    .max(max)
    .regex(form, message)
    .refine(
      (value) => !KEPT_NOWHERE.test(value),
      'must hold no e-mail address, no whole session id and no control character',
    );

const viewName = kept(60, /^\S(?:.*\S)?$/, 'must not begin or end with white space').meta({
  description: 'The name of the view, at most 60 characters; names are unique among the views of one operator',
  examples: ['Stale at acme'],
});

const href = kept(
  1000,
  /^\/console\/[a-z-]+(?:\?[\x21-\x7e]*)?$/,
  'must be the path of a list of the console, with its query',
)
  // Two views that name each other would form an endless loop.
  .refine((value) => !new URLSearchParams(value.split('?')[1]).has('view'), 'must not name a view itself')
  .meta({
    description: 'The path of a list in the console, with its filter and order in the query',
    examples: ['/console/sessions?state=stale&tenantId=acme'],
  });

/** A list with a filter and an order, saved under a name. */
const savedView = z.object({
  id: string('The id: `?view=` in an address of the console opens it', 'view_Jm4c0Vb1T2yq8s5nXk9ZwA'),
  name: string('The name of the view', 'Stale at acme'),
  href,
  tenantId: tenantId.nullable().describe('The tenant whose operators also see it; null if only its owner does'),
  isOwn: z.boolean().describe('Whether you saved it, and so may delete it'),
  createdAt: instant.describe('When it was saved'),
});

export type OperatorView = z.infer<typeof savedView>;

export const savedViews = z.object({
  views: z.array(savedView).describe('Your own views by name, then those of tenants; at most 500'),
});

export const saveViewRequest = z.strictObject({
  name: viewName,
  href,
  tenantId: tenantNamed.optional().describe('The tenant whose operators also see it'),
});

export const saveViewReply = z.object({ view: savedView.describe('The view as saved') });
