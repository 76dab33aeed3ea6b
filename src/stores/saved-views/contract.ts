/** A list with a filter and an order, under a name. */
export interface SavedView {
  readonly id: string;
  /** Who saved it, as a keyed hash. */
  readonly owner: string;
  /** Whose operators see it as well; null for its owner alone. */
  readonly tenantId: string | null;
  readonly name: string;
  /** The path and query of the list in the console. */
  readonly href: string;
  readonly createdAtMs: number;
}

/** Views that operators saved. @throws Unavailable when the database is away */
export interface SavedViews {
  /**
   * Keeps a view, in the place of another of its owner and name.
   * @param most how many views one owner has at most
   * @returns the view under the id that it has from now on; undefined, and keeps nothing, where the owner has as many already
   */
  save(view: SavedView, most: number): Promise<SavedView | undefined>;
  /** By name: those of an owner and those of the tenants; of all tenants where none are named. At most 500. */
  list(owner: string, tenants?: readonly string[]): Promise<readonly SavedView[]>;
  /** Deletes a view of an owner. @returns whether there was one */
  delete(owner: string, id: string): Promise<boolean>;
}
