/** `voice-2 Jm4c0V`: the host, and enough of the process id to tell two processes on a host apart. */
export function nodeName({ host, id }: { readonly host: string; readonly id: string }): string {
  return `${host} ${id.slice(0, 6)}`;
}
