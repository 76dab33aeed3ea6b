/** With how many random examples a property is tried: with a tenth of them in `npm run test:fast`, which sets the variable. */
export function examples(numRuns: number): { readonly numRuns: number } {
  return { numRuns: process.env['FEWER_EXAMPLES'] === undefined ? numRuns : Math.ceil(numRuns / 10) };
}
