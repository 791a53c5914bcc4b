import { type FaultKind, type FaultPlace, faultKinds, faultPlaces } from '../run/simulated-fault.js';
import { conditionBranches } from './condition-branches.js';
import type { Coverage } from './coverage.js';

const style = `body{font:15px system-ui,sans-serif;margin:2rem;color:#222;background:#fff}
.wide{overflow-x:auto;margin:0 0 2rem}table{border-collapse:collapse}
th,td{border:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}thead th{background:#f0f0f4}
tbody th{font-weight:normal;white-space:nowrap}td.hit{background:#d8f0d8;text-align:center}td.miss{background:#f4f4f4}code{overflow-wrap:anywhere}`;

/** What a simulation has reached, as one page. */
export function coverageHtml(coverage: Coverage, title: string): string {
  const { runs, faults, writes, events, conditions, changes, refused, hash } = coverage;
  const happened = faultKinds.filter((kind) => faults.has(kind));
  const kindsAt = (place: FaultPlace) => happened.filter((kind) => faultPlaces[kind] === place);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p>${runs} runs. History without faults: <code>${escapeHtml(hash)}</code></p>
${section(
  'Faults',
  table(
    ['fault', 'at a', 'times'],
    faultKinds.map((kind) => faultRow(kind, faults.get(kind))),
  ),
)}
${section('Writes, with the faults that hit them', matrix(writes, kindsAt('write')), writes.size)}
${section('Events, with the faults that hit them', matrix(events, kindsAt('event')), events.size)}
${section('Conditions, with the reasons of their values', conditionTable(coverage), conditions.size)}
${section('Changes that were made and undone, with the faults that happened meanwhile', matrix(changes, happened), changes.size)}
${section(
  'Changes that the server refused',
  table(
    ['change', 'reason'],
    [...refused].map(([name, why]) => [head(name), cell(why)]),
  ),
  refused.size,
)}
</body></html>
`;
}

function section(title: string, content: string, size = 1): string {
  return size === 0 ? '' : `<h2>${escapeHtml(title)}</h2>\n<div class="wide">${content}</div>`;
}

function faultRow(kind: FaultKind, times: number | undefined): readonly string[] {
  const count = times === undefined ? '<td class="miss">did not happen</td>' : cell(String(times));
  return [head(kind), cell(faultPlaces[kind]), count];
}

/** Which faults hit which write or event. */
function matrix(all: ReadonlyMap<string, ReadonlySet<FaultKind>>, kinds: readonly FaultKind[]): string {
  const mark = (isHit: boolean) => (isHit ? '<td class="hit">✓</td>' : '<td class="miss"></td>');
  return table(
    ['', ...kinds],
    [...all].map(([name, hit]) => [head(name), ...kinds.map((kind) => mark(hit.has(kind)))]),
  );
}

function conditionTable(coverage: Coverage): string {
  const rows = [...coverage.conditions.keys()].flatMap((name) =>
    conditionBranches(coverage, name).map(({ value, reasons, isReached }) => [
      head(name),
      cell(value),
      isReached ? cell(reasons.join(', ')) : '<td class="miss">never had this value</td>',
    ]),
  );
  return table(['condition', 'value', 'reasons'], rows);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const first = titles.map((each) => `<th scope="col">${escapeHtml(each)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.join('')}</tr>`).join('\n');
  return `<table><thead><tr>${first}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

function head(text: string): string {
  return `<th scope="row">${escapeHtml(text)}</th>`;
}

function cell(text: string): string {
  return `<td>${escapeHtml(text)}</td>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
