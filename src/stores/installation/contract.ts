/** What is stored for the installation as a whole. @throws Unavailable when the database is away. */
export interface Installation {
  /** 32 random bytes under a name: the first call on any node creates them, every later call returns the same ones. */
  secret(name: string): Promise<Buffer>;
  /** Writes a row that nobody reads. @throws Unavailable when the database takes no writes, although it may answer reads */
  tryWrite(): Promise<void>;
}
