import { type FaultKind, faultKinds, faultPlaces } from '../run/simulated-fault.js';
import type { Coverage } from './coverage.js';

const style = `body{font:15px system-ui,sans-serif;margin:2rem;color:#222}table{border-collapse:collapse;margin:0 0 2rem}
th,td{border:1px solid #ccc;padding:.3rem .6rem;text-align:left}td.hit{background:#d8f0d8}td.miss{background:#f4f4f4}`;

/** What a simulation has reached, as one page. */
export function coverageHtml({ runs, faults, writes, events, conditions, hash }: Coverage, title: string): string {
  const happened = faultKinds.filter((kind) => faults.has(kind));
  const kindsAt = (place: string) => happened.filter((kind) => faultPlaces[kind] === place);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${style}</style></head><body>
<h1>${escapeHtml(title)}</h1>
<p>${runs} runs. History without faults: <code>${escapeHtml(hash)}</code></p>
<h2>Faults</h2>
${table(
  ['fault', 'times'],
  happened.map((kind) => [cell(kind), cell(String(faults.get(kind)))]),
)}
<h2>Writes</h2>
${matrix(writes, kindsAt('write'))}
<h2>Events</h2>
${matrix(events, kindsAt('event'))}
<h2>Conditions</h2>
${table(
  ['condition', 'values'],
  [...conditions].map(([name, values]) => [cell(name), cell([...values].join(', '))]),
)}
</body></html>
`;
}

/** Which faults hit which write or event. */
function matrix(all: ReadonlyMap<string, ReadonlySet<FaultKind>>, kinds: readonly FaultKind[]): string {
  const mark = (isHit: boolean) => (isHit ? '<td class="hit">✓</td>' : '<td class="miss"></td>');
  return table(
    ['', ...kinds],
    [...all].map(([name, hit]) => [cell(name), ...kinds.map((kind) => mark(hit.has(kind)))]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const titles = head.map((each) => `<th>${escapeHtml(each)}</th>`).join('');
  return `<table><tr>${titles}</tr>${rows.map((row) => `<tr>${row.join('')}</tr>`).join('')}</table>`;
}

function cell(text: string): string {
  return `<td>${escapeHtml(text)}</td>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
