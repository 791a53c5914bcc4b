import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { headline } from './headline.mjs';
import { needsLogScale, panel } from './panel.mjs';
import { goalsTable, reportText, summaryText } from './report.mjs';
import { readResults } from './results.mjs';
import { sections, sectionsNamed } from './sections.mjs';
import { goal, Series } from './series.mjs';
import { cargoVersion, goVersion } from './versions.mjs';

const result = {
  ...{ date: '2026-01-02', machine: '2 vCPU', load: 0.25, rounds: 2, seconds: 12.4 },
  versions: { riata: '0.1.0', Go: undefined },
};
const described = {
  title: 'Watch',
  parts: ['| a table |', 'and a sentence.'],
  charts: [{ name: 'watch', title: 'A watch' }],
  goals: [goal({ what: 'CPU', got: new Series([2]), most: 1, unit: '×' })],
};
const entry = (name, more = {}) => ({ section: { name }, result: { ...result, ...more }, described });

test('a section says when and how it was measured, and how to repeat it', () => {
  const text = reportText([entry('watch')]);
  expect(text).toContain(
    '## The client\n\n### Watch\n\n2026-01-02, 2 rounds, load before: 0.3, 12 s; again by `npm run bench -- --only=watch --write`.',
  );
  expect(text).toContain('\n\n![A watch](charts/watch.svg)\n\n| a table |\n\nand a sentence.\n');
  expect(text).not.toContain('## Controllers');
});

test('machines and versions of all sections are listed, each once', () => {
  const text = reportText([
    entry('watch'),
    entry('list'),
    entry('apply', { machine: '8 vCPU', versions: { riata: '0.2.0' } }),
  ]);
  expect(text).toContain('| machine | 2 vCPU; 8 vCPU |');
  expect(text).toContain('| riata | 0.1.0; 0.2.0 |');
  expect(text).not.toContain('| Go |');
});

test('goals that were not met stand out', () => {
  expect(
    goalsTable([entry('watch')])
      .split('\n')
      .at(-1),
  ).toBe('| CPU | at most 1× | 2× | **not met** |');
});

test('sections are named one by one, or several by their first word', () => {
  const names = (only) => sectionsNamed(only).map(({ name }) => name);
  expect(names(undefined)).toEqual(sections.map(({ name }) => name));
  expect(names('watch,list')).toEqual(['list', 'watch']);
  expect(names('apiserver')).toHaveLength(6);
  expect(names('apiserver-start')).toEqual(['apiserver-start']);
  expect(() => sectionsNamed('list,api')).toThrow(/--only knows .*apiserver-lists.* got api$/);
});

test('a chart shows the measurements, optionally under other names, and marks ours', () => {
  const rows = { riata: { ms: [3, 1, 2] }, peer: { ms: [9] }, silent: { ms: [null] }, other: { ms: [1] } };
  const { bars } = panel('time, ms', rows, 'ms', {
    names: { peer: 'the peer', silent: 'silent', riata: 'riata', gone: 'gone' },
  });
  expect(bars).toEqual([
    { name: 'the peer', isOurs: false, median: 9, least: 9, most: 9 },
    { name: 'riata', isOurs: true, median: 2, least: 1, most: 3 },
  ]);
});

test('a log scale is for values decades apart, never for zero', () => {
  const bars = (...values) => ({ bars: values.map((value) => ({ median: value, least: value, most: value })) });
  expect(needsLogScale(bars(1, 29))).toBe(false);
  expect(needsLogScale(bars(1, 31))).toBe(true);
  expect(needsLogScale(bars(0, 31))).toBe(false);
  expect(needsLogScale(bars(5))).toBe(false);
});

test('versions are those that lock files pin', () => {
  const goMod = 'module a\n\nrequire (\n\tk8s.io/client-go v0.36.3\n\tk8s.io/api v0.1.0\n)\n';
  expect(goVersion(goMod, 'k8s.io/client-go')).toBe('0.36.3');
  expect(goVersion('require k8s.io/api v1.2.3\n', 'k8s.io/api')).toBe('1.2.3');
  expect(goVersion(goMod, 'k8s.io/none')).toBe(undefined);
  expect(cargoVersion('[[package]]\nname = "kube"\nversion = "5.0.0"\n', 'kube')).toBe('5.0.0');
});

test('a headline has medians, of what was measured', () => {
  const rows = { riata: { ms: [1, 3, 2] }, peer: { ms: [7.04] }, silent: {} };
  expect(
    headline('time', rows, 'ms', { others: { peer: 'a peer', silent: 'silent' }, unit: ' ms', digits: 1 }),
  ).toEqual([['time', '2.0 ms', 'a peer 7.0 ms']]);
  expect(headline('time', rows, 'ms', { ours: 'silent', others: {} })).toEqual([]);
});

test('the report in the repository is that of its results', () => {
  const found = readResults();
  expect(found.length).toBeGreaterThan(0);
  expect(readFileSync(new URL('../report.md', import.meta.url), 'utf8')).toBe(reportText(found));
  expect(readFileSync(new URL('../../README.md', import.meta.url), 'utf8')).toContain(`\n${summaryText(found)}\n`);
  for (const { described: all } of found) {
    for (const { name } of all.charts) {
      const svg = readFileSync(new URL(`../charts/${name}.svg`, import.meta.url), 'utf8');
      for (const panel of all.charts.find((chart) => chart.name === name).panels) {
        expect(svg, `${name}: made by \`npm run bench -- --report\``).toContain(`>${panel.title}</text>`);
      }
    }
  }
});
