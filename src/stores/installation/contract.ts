/** Secrets of the installation, made once and kept in the database. @throws Unavailable when the database is away. */
export interface Installation {
  /** 32 random bytes under a name: the first caller of all nodes makes them, every later call answers the same. */
  secret(name: string): Promise<Buffer>;
}
