import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installLocked } from './install.mjs';
import { reportText, summaryText } from './report.mjs';
import { bench, readResults } from './results.mjs';

/** Makes `report.md` and `charts/` of the results in a folder. The library that draws is installed for it. */
export async function writeReport(home) {
  const found = readResults(home);
  installLocked(bench, '@observablehq/plot');
  const { chartSvg } = await import('./chart.mjs');
  const folder = join(home, 'charts');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const charts = found.flatMap(({ described }) => described.charts);
  for (const chart of charts) writeFileSync(join(folder, `${chart.name}.svg`), chartSvg(chart));
  const page = join(home, 'report.md');
  writeFileSync(page, reportText(found));
  if (home === resolve(bench)) writeSummary(join(bench, '../README.md'), summaryText(found));
  return { page, charts: charts.length };
}

/** Puts a table between the marks of a page. */
function writeSummary(page, text) {
  const before = readFileSync(page, 'utf8');
  const after = before.replace(
    /(<!-- figures -->\n)[\s\S]*(\n<!-- end of figures -->)/,
    (_, from, to) => `${from}\n${text}\n${to}`,
  );
  if (!after.includes(text)) throw new Error(`${page} has lost its marks for the figures`);
  writeFileSync(page, after);
}
