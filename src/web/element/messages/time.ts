/** Units with their length in seconds, and the number of seconds from which they are exact enough. */
const UNITS = [
  ['hour', 3600, 5400],
  ['minute', 60, 120],
] as const;

/** A time from now in words: "in 42 seconds", "in 3 hours". Rounded up, so that nobody comes back too early. */
export function timeIn(language: string, seconds: number): string {
  const [unit, size] = UNITS.find(([, , least]) => seconds >= least) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat(language).format(Math.max(0, Math.ceil(seconds / size)), unit);
}
