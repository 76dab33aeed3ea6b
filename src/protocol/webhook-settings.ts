import { z } from 'zod';
import { webhookTypes } from './webhook-event.ts';

/** The most endpoints that a tenant, or the installation, may have. */
export const MAX_ENDPOINTS = 10;

/** Other mistakes in an address are reported by the rule for all servers that tenants name (`kernel/server-url.ts`). */
export const webhookUrl = z
  .string('must be an address such as https://hooks.example.com/switchboard')
  .max(1024, 'must be at most 1024 characters');

export const wantedTypes = z
  .array(z.enum(webhookTypes, `must be one of ${webhookTypes.join(', ')}`), 'must be a list of types')
  .min(1, 'must name a type')
  .max(webhookTypes.length, 'must name each type once');
