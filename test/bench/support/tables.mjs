// A command returns an array of tables: `title`, `goal` (docs/goals.md) where there is one, `rows` (objects with the same fields),
// and `notes` (sentences) where the figures need some.

/** Explains the columns whose names do not speak for themselves. */
const meanings = {
  'by CPU': "the first row's CPU per request divided by this row's: 0.5 costs twice as much",
  'server busy': 'the share of a core that the server used',
  'judged by':
    '"throughput": the server must be busy all the time, and then both ratios say the same; "CPU": something else is the limit, and only CPU per request counts',
};
const SPREAD = '"a (b-c)": median, smallest and largest of the rounds';

export function printTables(tables) {
  for (const { title, goal, rows, notes = [] } of tables) {
    console.log(`\n${title}${goal === undefined ? '' : `\n${goal}`}`);
    console.table(rows);
    for (const note of notes) console.log(note);
  }
  const legend = legendOf(tables);
  if (legend !== '') console.log(`\n${legend}`);
}

/** What readers must know about the columns of these tables. */
function legendOf(tables) {
  const rows = tables.flatMap((table) => table.rows);
  const told = Object.entries(meanings).filter(([name]) => rows.some((row) => name in row));
  const hasSpread = rows.some((row) => Object.values(row).some((cell) => /^[\d.]+ \([\d.]+-[\d.]+\)$/.test(cell)));
  return [...told.map(([name, meaning]) => `"${name}": ${meaning}.`), ...(hasSpread ? [`${SPREAD}.`] : [])].join(' ');
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
