/** How the console writes figures, times and names. */
export type Zone = 'utc' | 'local';

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/** `14:03:12`, with milliseconds if asked for. */
export function clockText(atMs: number, zone: Zone, hasMs = false): string {
  const at = new Date(atMs);
  const [hours, minutes, seconds] =
    zone === 'utc'
      ? [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
      : [at.getHours(), at.getMinutes(), at.getSeconds()];
  const ms = hasMs ? `.${pad(at.getUTCMilliseconds(), 3)}` : '';
  return `${pad(hours)}:${pad(minutes)}:${pad(seconds)}${ms}`;
}

/** `2030-01-31` */
export function dayText(atMs: number, zone: Zone): string {
  const at = new Date(atMs);
  return zone === 'utc'
    ? at.toISOString().slice(0, 10)
    : `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

/** `UTC`, or the offset of local time from it: `UTC+02:00`. */
export function zoneText(atMs: number, zone: Zone): string {
  if (zone === 'utc') return 'UTC';
  const minutes = -new Date(atMs).getTimezoneOffset();
  if (minutes === 0) return 'UTC+0';
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? '−' : '+'}${pad(hours)}:${pad(rest)}`;
}

/** `04:12`, `1:04:12`, `3 d 04:12:00`; never negative. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const end = `${pad(minutes)}:${pad(seconds % 60)}`;
  if (days > 0) return `${days} d ${pad(hours)}:${end}`;
  return hours > 0 ? `${hours}:${end}` : end;
}

/** `now`, `40 s`, `6 min`, `3 h`, `2 d`. */
export function agoText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 10) return 'now';
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** `7f3a…91c2`: enough to tell people apart without an address. */
export function shortName(name: string): string {
  return name.length <= 10 ? name : `${name.slice(0, 4)}…${name.slice(-4)}`;
}

/** `acme/support`: the agent, or only the tenant. */
export function agentName({
  tenantId,
  agentId,
}: {
  readonly tenantId: string;
  readonly agentId: string | null;
}): string {
  return agentId === null ? tenantId : `${tenantId}/${agentId}`;
}

/** `s:7f3a…91c2`: a session's ref, shortened for narrow columns. */
export function shortRef(ref: string): string {
  return `s:${shortName(ref.replace(/^s:/, ''))}`;
}

/** `voice-2 Jm4c0V`: the host, and enough of the process id to tell two processes on a host apart. */
export function nodeName({ host, id }: { readonly host: string; readonly id: string }): string {
  return `${host} ${id.slice(0, 6)}`;
}

const whole = new Intl.NumberFormat('en');

export function countText(value: number): string {
  return whole.format(value);
}

/** `2 ms`, `0.7 ms`, `2.1 s`. */
export function latencyText(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
}

/** `210 MB` */
export function sizeText(bytes: number): string {
  return `${whole.format(Math.round(bytes / 1_000_000))} MB`;
}

/** `41 %`, or `<1 %` for less. */
export function shareText(share: number): string {
  return share > 0 && share < 0.01 ? '<1 %' : `${Math.round(share * 100)} %`;
}

/** The total of all counts. */
export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Shortens each e-mail address in a text to its first letter and its domain: `o…@acme.example`. */
export function maskAddresses(text: string): string {
  return text.replace(/([^\s@",;<>])[^\s@",;<>]*@/g, '$1…@');
}
