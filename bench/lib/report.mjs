import { topics } from './sections.mjs';
import { table } from './series.mjs';

/**
 * The page of all figures.
 * @param {{ section: { name: string }, result: object, described: object }[]} found what `readResults` gives
 */
export function reportText(found) {
  const byName = new Map(found.map((entry) => [entry.section.name, entry]));
  const chapters = Object.entries(topics).flatMap(([topic, sections]) => {
    const entries = sections.flatMap(({ name }) => byName.get(name) ?? []);
    return entries.length === 0 ? [] : [`## ${topic}`, ...entries.flatMap(sectionParts)];
  });
  return `${[
    '# Report',
    'Made by `npm run bench -- --write` of the samples in [results](results); not edited by hand. What each figure means and how it is taken: [README.md](README.md). Figures are medians, with (least–most) where rounds differ; ratios are taken within each round.',
    conditions(found.map(({ result }) => result)),
    '## Goals',
    goalsTable(found),
    ...chapters,
  ].join('\n\n')}\n`;
}

/** What README.md shows of it: a few figures, medians alone. */
export function summaryText(found) {
  const lines = found.flatMap(({ described }) => described.headlines ?? []);
  return table(['', 'Riata', 'beside'], lines).replace(/--:\|$/m, '---|');
}

/** Every goal, and what came out. */
export function goalsTable(found) {
  const lines = found.flatMap(({ described }) =>
    described.goals.map(({ what, limit, got, met }) => [what, limit, got, met ? 'met' : '**not met**']),
  );
  return table(['', 'goal', 'measured', ''], lines);
}

/** Machine and versions: those of all sections, so that one that was measured elsewhere or before is seen. */
function conditions(results) {
  const all = (pick) => [...new Set(results.map(pick).filter(Boolean))].join('; ');
  const names = [...new Set(results.flatMap(({ versions }) => Object.keys(versions)))];
  const lines = names.map((name) => [name, all(({ versions }) => versions[name])]).filter(([, found]) => found !== '');
  return table(['', 'version'], [['machine', all(({ machine }) => machine)], ...lines]).replace('--:', '---');
}

function sectionParts({ section, result, described }) {
  const { title, parts, charts } = described;
  const { date, rounds, load, seconds, note } = result;
  const taken = [`${date}`, `${rounds} ${rounds === 1 ? 'round' : 'rounds'}`, `load before: ${load.toFixed(1)}`];
  if (seconds !== undefined) taken.push(`${Math.round(seconds)} s`);
  const again = `\`npm run bench -- --only=${section.name} --write\``;
  return [
    `### ${title}`,
    `${taken.join(', ')}; again by ${again}.${note ? ` ${note}` : ''}`,
    ...charts.map(({ name, title: text }) => `![${text}](charts/${name}.svg)`),
    ...parts,
  ];
}
