import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultTenantsFile } from '../../config/build-info.ts';
import type { Environment } from './switchboard.ts';

export interface MoreTenants {
  readonly tenants: readonly object[];
  readonly budgets?: readonly object[];
}

/** Writes a tenants file with the demo's tenants and more, if there are any. @returns the setting that names it */
export async function demoTenantsAnd(more: MoreTenants | undefined, directory: string): Promise<Environment> {
  if (more === undefined) return {};
  const demo = JSON.parse(await readFile(defaultTenantsFile(), 'utf8')) as MoreTenants;
  const TENANTS_FILE = join(directory, 'tenants.json');
  await writeFile(TENANTS_FILE, JSON.stringify({ ...demo, ...more, tenants: [...demo.tenants, ...more.tenants] }));
  return { TENANTS_FILE };
}
