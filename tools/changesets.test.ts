import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const packages = readdirSync(new URL('packages', root)).map((name) =>
  JSON.parse(read(`packages/${name}/package.json`)),
);
const names = packages.map(({ name }) => String(name));

/** Problems of a changeset: its front matter must name packages of this repository, each with a bump. */
function changesetProblems(text: string): string[] {
  const [, front, note = ''] = /^---\n([\s\S]*?)---\n([\s\S]*)$/.exec(text) ?? [];
  if (front === undefined) return ['front matter is missing'];
  const lines = front.split('\n').filter((line) => line !== '');
  const wrong = lines.filter((line) => !names.includes(/^"([^"]+)": (?:patch|minor|major)$/.exec(line)?.[1] ?? ''));
  return [
    ...wrong.map((line) => `${line}: must be "package": patch, minor or major`),
    ...(lines.length === 0 ? ['names no package'] : []),
    ...(note.trim() === '' ? ['the note is missing'] : []),
  ];
}

test('changesets name packages of this repository, and say what changed', () => {
  const files = readdirSync(new URL('.changeset', root)).filter((file) => file.endsWith('.md') && file !== 'README.md');
  const problems = files.flatMap((file) =>
    changesetProblems(read(`.changeset/${file}`)).map((problem) => `${file}: ${problem}`),
  );
  expect(problems).toEqual([]);
});

test('all packages have one version', () => {
  expect(new Set(packages.map(({ version }) => version)).size).toBe(1);
  const [patterns] = JSON.parse(read('.changeset/config.json')).fixed as [string[]];
  const isFixed = (name: string) =>
    patterns.some((each) => name === each || (each.endsWith('*') && name.startsWith(each.slice(0, -1))));
  expect(names.filter((name) => !isFixed(name))).toEqual([]);
});

test('a changeset for an unknown package, without a bump or without a note is refused', () => {
  expect(changesetProblems('---\n"riata": minor\n---\n\nA feature.\n')).toEqual([]);
  expect(changesetProblems('---\n"react": minor\n---\n\nA feature.\n')).toEqual([
    '"react": minor: must be "package": patch, minor or major',
  ]);
  expect(changesetProblems('---\n"riata": huge\n---\n\n')).toEqual([
    '"riata": huge: must be "package": patch, minor or major',
    'the note is missing',
  ]);
  expect(changesetProblems('A feature.\n')).toEqual(['front matter is missing']);
});
