/** `voice-2 Jm4c0V`: the host, and enough of the process's id to tell two on a host apart. */
export function nodeName({ host, id }: { readonly host: string; readonly id: string }): string {
  return `${host} ${id.slice(0, 6)}`;
}
