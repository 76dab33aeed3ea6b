/** An instant as people read it, in UTC: `2030-01-01 12:15:00 UTC`. */
export function when(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A time that passed, in the largest units that say it. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function dollars(microDollars: number): string {
  return `$${(microDollars / 1_000_000).toFixed(2)}`;
}
