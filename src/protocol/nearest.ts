/** The most wrong letters with which a name still counts as close. */
const MAX_WRONG = 3;

/** The known name closest to a misspelt one, ignoring case; undefined if none is close. */
export function nearest(misspelt: string, known: readonly string[]): string | undefined {
  const asked = misspelt.toLowerCase();
  const most = Math.min(MAX_WRONG, Math.floor(asked.length / 2));
  const close = known
    .filter((name) => Math.abs(name.length - asked.length) <= most)
    .map((name) => ({ name, wrong: editsBetween(asked, name.toLowerCase()) }))
    .filter(({ wrong }) => wrong <= most);
  return close.toSorted((one, other) => one.wrong - other.wrong)[0]?.name;
}

/** How many letters must be added, removed or replaced (Levenshtein distance). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] as number) + (letter === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] as number) + 1, (next[column] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
