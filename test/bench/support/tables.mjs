// What a command returns is an array of tables: `title`, `goal` (docs/goals.md) where there is one, `rows` (objects with the same fields),
// and `notes` (sentences) where the figures need some. Those that `check` compares have `ratios` by name and `busy`, the least share of a core
// that a server had.

export function printTables(tables) {
  for (const { title, goal, rows, notes = [] } of tables) {
    console.log(`\n${title}${goal === undefined ? '' : `\n${goal}`}`);
    console.table(rows);
    for (const note of notes) console.log(note);
  }
}

/** The same as Markdown, with headings of the given level. */
export function toMarkdown(tables, level) {
  return tables
    .map(({ title, goal, rows, notes = [] }) =>
      [`${'#'.repeat(level)} ${title}`, ...(goal === undefined ? [] : [goal]), tableOf(rows), ...notes].join('\n\n'),
    )
    .join('\n\n');
}

function tableOf(rows) {
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells) => `| ${cells.map((cell) => String(cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((name) => row[name]))),
  ].join('\n');
}
