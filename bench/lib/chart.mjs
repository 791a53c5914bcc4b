import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { needsLogScale } from './panel.mjs';
import { number } from './series.mjs';

const WIDTH = 880;
const MARGIN = 20;
const GAP = 28;
const ROW = 22;
const HEAD = 62;
/** Above the bars: what a panel shows. Below: its axis. */
const PANEL_HEAD = 40;
const AXIS = 26;
/** Right of the longest bar, for its value. */
const VALUE = 58;
/** Between two numbers of an axis, at least. */
const TICK = 52;
/** Left of an axis without names, for half of its first number. */
const EDGE = 8;
/** Of a letter of 12 px, on average. */
const LETTER = 7;

/** Each colour on white and, by `prefers-color-scheme`, on black. The paper is drawn, so that both are read on any page. */
const colours = {
  paper: ['#ffffff', '#0d1117'],
  ink: ['#1f2328', '#e6edf3'],
  soft: ['#59636e', '#9aa4af'],
  grid: ['#d8dee4', '#30363d'],
  ours: ['#2563eb', '#5b9dff'],
  theirs: ['#b3bac3', '#59636f'],
  goal: ['#c2410c', '#fb923c'],
};
const light = Object.fromEntries(Object.entries(colours).map(([name, [colour]]) => [name, colour]));
const darkRules = Object.values(colours)
  .map(([from, to]) => `[fill="${from}"]{fill:${to}}[stroke="${from}"]{stroke:${to}}`)
  .join('');

/**
 * One SVG of several panels of horizontal bars (or, on a log scale, dots), with lines from the least to the most. The same
 * data give the same bytes.
 * @param {{ title: string, columns?: number, panels: ReturnType<typeof import('./panel.mjs').panel>[] }} chart
 */
export function chartSvg({ title, panels, columns = panels.length }) {
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const lines = [];
  let top = HEAD;
  for (let at = 0; at < panels.length; at += columns) {
    const row = panels.slice(at, at + columns);
    const names = [...new Set(row.flatMap(({ bars }) => bars.map(({ name }) => name)))];
    const labels = Math.ceil(Math.max(...names.map((name) => name.length)) * LETTER) + 12;
    const width = (WIDTH - 2 * MARGIN - labels - (columns - 1) * GAP) / columns;
    const height = names.length * ROW + AXIS;
    row.forEach((panel, column) => {
      const x = MARGIN + labels + column * (width + GAP);
      const left = column === 0 ? labels : EDGE;
      lines.push(heading(panel, x, top));
      const drawn = draw(document, panel, { names, left, width: width + left, height });
      lines.push(
        `<g transform="translate(${x - left},${top + PANEL_HEAD})" text-anchor="middle" fill="${light.ink}">${drawn}</g>`,
      );
    });
    top += PANEL_HEAD + height + 14;
  }
  const height = top + 4;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" role="img">
<title>${escaped(title)}</title>
<style>@media (prefers-color-scheme: dark){${darkRules}}</style>
<rect width="${WIDTH}" height="${height}" rx="8" fill="${light.paper}"/>
<text x="${MARGIN}" y="30" font-size="16" font-weight="600" fill="${light.ink}">${escaped(title)}</text>
<text x="${MARGIN}" y="49" font-size="12" fill="${light.soft}">${escaped(legend(panels))}</text>
${lines.join('\n')}
</svg>
`;
  return text
    .replaceAll('currentColor', light.ink)
    .replace(/\d+\.\d{3,}/g, (digits) => String(Number(Number(digits).toFixed(2))));
}

function legend(panels) {
  const goal = panels.some(({ limit }) => limit !== undefined) ? '; dashed: the goal' : '';
  return `medians, and lines from the least to the most of all rounds${goal}`;
}

function heading(panel, x, top) {
  const better = `${panel.better} is better${needsLogScale(panel) ? ', log scale' : ''}`;
  return (
    `<text x="${x}" y="${top + 16}" font-size="12.5" font-weight="600" fill="${light.ink}">${escaped(panel.title)}</text>` +
    `<text x="${x}" y="${top + 32}" font-size="11.5" fill="${light.soft}">${better}</text>`
  );
}

/** The marks of a panel. */
function draw(document, panel, { names, left, width, height }) {
  const { bars, digits, limit } = panel;
  const isLog = needsLogScale(panel);
  const longest = Math.max(...bars.map(({ most }) => most), limit ?? 0);
  const shortest = isLog ? 10 ** Math.floor(Math.log10(Math.min(...bars.map(({ least }) => least)))) : 0;
  const values = bars.map((bar) => ({ ...bar, from: shortest, text: number(bar.median, digits) }));
  const missing = names.filter((name) => !bars.some((bar) => bar.name === name));
  const colour = ({ isOurs }) => (isOurs ? light.ours : light.theirs);
  const weight = (name) => (bars.find((bar) => bar.name === name)?.isOurs ? 600 : 400);
  const marks = isLog
    ? [
        Plot.ruleY(values, { y: 'name', x1: 'from', x2: 'median', stroke: colour, strokeWidth: 2, strokeOpacity: 0.5 }),
        Plot.dot(values, { y: 'name', x: 'median', fill: colour, r: 5 }),
      ]
    : [Plot.barX(values, { y: 'name', x1: 'from', x2: 'median', fill: colour, insetTop: 1, insetBottom: 1 })];
  if (limit !== undefined) {
    marks.push(Plot.ruleX([limit], { stroke: light.goal, strokeWidth: 1.5, strokeDasharray: '4 3' }));
  }
  const spreads = values.filter(({ least, most }) => most > least);
  const ends = spreads.flatMap(({ name, least, most }) => [least, most].map((x) => ({ name, x })));
  // Read over lines, too.
  const halo = { stroke: light.paper, strokeWidth: 4 };
  const spread = { stroke: light.ink, strokeWidth: 1.25 };
  const ticks = ticksOf(shortest, longest, isLog, width - left - VALUE);
  const svg = Plot.plot({
    ...{ document, width, height },
    ...{ marginLeft: left, marginRight: VALUE, marginTop: 0, marginBottom: AXIS },
    x: { type: isLog ? 'log' : 'linear', domain: [shortest, longest], axis: null },
    y: { domain: names, axis: null, padding: 0.2 },
    marks: [
      Plot.gridX({ ticks: ticks, stroke: light.grid, strokeOpacity: 1 }),
      Plot.axisX({
        ticks: ticks,
        tickFormat: shortUpTo(longest),
        fontSize: 11,
        label: null,
        tickSize: 0,
        fill: light.soft,
      }),
      ...(left > EDGE ? names.map((name) => label(name, weight(name), left)) : []),
      ...marks,
      Plot.ruleY(spreads, { y: 'name', x1: 'least', x2: 'most', ...spread }),
      Plot.tickX(ends, { y: 'name', x: 'x', insetTop: 6, insetBottom: 6, ...spread }),
      Plot.text(values, {
        y: 'name',
        x: 'most',
        text: 'text',
        textAnchor: 'start',
        dx: isLog ? 9 : 6,
        fontSize: 11.5,
        ...halo,
        fill: light.ink,
      }),
      Plot.text(missing, {
        y: (name) => name,
        x: () => shortest,
        text: () => '–',
        textAnchor: 'start',
        dx: 4,
        fill: light.soft,
      }),
      Plot.ruleX([shortest], { stroke: light.soft }),
    ],
  });
  svg.querySelector('style').remove();
  return svg.innerHTML;
}

/** The name of a row, left of the axis. */
const label = (name, fontWeight, left) =>
  Plot.text([name], {
    y: (it) => it,
    frameAnchor: 'left',
    textAnchor: 'start',
    dx: -left,
    fontSize: 12,
    fontWeight,
    fill: light.ink,
  });

function ticksOf(least, most, isLog, width) {
  if (isLog) {
    const decades = [];
    for (let at = least; at <= most; at *= 10) decades.push(at);
    return decades;
  }
  const room = Math.max(2, Math.floor(width / TICK));
  const decade = 10 ** Math.floor(Math.log10(most / room));
  const step = [1, 2, 5, 10].map((n) => n * decade).find((n) => most / n <= room);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

const shortUpTo = (most) => (value) =>
  most >= 10_000 && value > 0 ? `${(value / 1000).toLocaleString('en-US')}k` : value.toLocaleString('en-US');
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
