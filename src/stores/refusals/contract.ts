import type { Why } from '../../protocol/refusal-why.ts';
import type { TenantScope } from '../tenants/contract.ts';

/** What the writer knows of a refusal beside its columns. */
export interface RefusalDetail extends Pick<
  Why,
  'limit' | 'count' | 'unit' | 'lever' | 'expected' | 'verdict' | 'fact'
> {
  /** Why a session had ended. */
  readonly reason?: string | undefined;
  readonly retryAfter?: number | undefined;
}

/** A request that was refused: without addresses, e-mail addresses, codes, tokens, and without what it said. */
export interface KeptRefusal {
  readonly requestId: string;
  readonly atMs: number;
  readonly code: string;
  readonly status: number;
  readonly layer: string;
  /** The pattern of its path. */
  readonly route: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  readonly subject: string | null;
  readonly origin: string | null;
  /** The keyed hash of the caller's address. */
  readonly addressHash: string | null;
  /** Of the address: its /24, or /48. */
  readonly network: string | null;
  readonly detail: RefusalDetail;
  readonly node: string;
}

export interface RefusalFilter {
  readonly code?: string | undefined;
  readonly keyId?: string | undefined;
  readonly network?: string | undefined;
  readonly subject?: string | undefined;
  /** Instants, the ends included. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Whose refusals are meant. */
  readonly tenants: TenantScope;
}

/** Where a page ended. */
export interface RefusalCursor {
  readonly atMs: number;
  readonly ordinal: number;
}

export interface RefusalPage {
  /** The newest first. */
  readonly refusals: readonly KeptRefusal[];
  /** Where the next page begins; undefined where this one is the last. A page that was searched for long may be short. */
  readonly next: RefusalCursor | undefined;
}

/** The newest refusals of requests. @throws Unavailable when the database is away. */
export interface Refusals {
  /** Keeps those whose request is not kept yet. */
  append(refusals: readonly KeptRefusal[]): Promise<void>;
  find(requestId: string, tenants: TenantScope): Promise<KeptRefusal | undefined>;
  list(filter: RefusalFilter, after: RefusalCursor | undefined, limit: number): Promise<RefusalPage>;
}
