/** A named list with a filter and an order. */
export interface SavedView {
  readonly id: string;
  /** Who saved it, as a keyed hash. */
  readonly owner: string;
  /** The tenant whose operators see it too; null for its owner alone. */
  readonly tenantId: string | null;
  readonly name: string;
  /** The path and query of the list in the console. */
  readonly href: string;
  readonly createdAtMs: number;
}

/** Views that operators saved. @throws Unavailable when the database is away */
export interface SavedViews {
  /**
   * Saves a view, replacing the owner's view of the same name.
   * @param most how many views one owner may have
   * @returns the view with the id that it has from now on; undefined, with nothing saved, if the owner has that many already
   */
  save(view: SavedView, most: number): Promise<SavedView | undefined>;
  /** The views of an owner and of the tenants (of all tenants if none are named): the owner's first, then by name. At most 500. */
  list(owner: string, tenants?: readonly string[]): Promise<readonly SavedView[]>;
  /** Deletes a view of an owner. @returns whether there was one */
  delete(owner: string, id: string): Promise<boolean>;
}
