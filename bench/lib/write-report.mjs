import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installLocked } from './install.mjs';
import { reportText } from './report.mjs';
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
  return { page, charts: charts.length };
}
