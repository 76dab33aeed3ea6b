/** A text without spaces, which in a narrow place breaks after the marks between its parts. */
export function Parts({ text }: { readonly text: string }) {
  return <>{text.split(/(?<=[_&,@:/])(?=\w)/).map((part, index) => [part, <wbr key={index} />])}</>;
}
