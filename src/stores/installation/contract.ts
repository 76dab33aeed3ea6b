/** What is kept for the installation as a whole. @throws Unavailable when the database is away. */
export interface Installation {
  /** 32 random bytes under a name: the first caller of all nodes makes them, every later call answers the same. */
  secret(name: string): Promise<Buffer>;
  /** Writes what nobody reads. @throws Unavailable when the database takes no writes, although it may answer reads */
  tryWrite(): Promise<void>;
}
