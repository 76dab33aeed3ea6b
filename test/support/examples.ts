/** The number of random examples of a property; `npm run test:fast`, which sets the variable, tries a tenth of them. */
export function examples(numRuns: number): { readonly numRuns: number } {
  return { numRuns: process.env['FEWER_EXAMPLES'] === undefined ? numRuns : Math.ceil(numRuns / 10) };
}
