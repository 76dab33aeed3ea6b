import { z } from 'zod';
import { defaultTenantsFile } from '../../config/build-info.ts';
import { variable } from '../../config/variable.ts';

export const tenantsFile = variable(
  'TENANTS_FILE',
  z.string().min(1),
  defaultTenantsFile(),
  'file of tenants and widget keys, merged into the database at start and on every change',
  { unset: 'config/tenants.json', example: 'config/tenants.json' },
);
