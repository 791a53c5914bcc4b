import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from '../../config/project.fixture.js';
import { anyChange } from '../source-changes.js';
import { TypeChecker } from './type-checker.js';
import { describeTypeProblems } from './type-problem.js';

const { resolve } = createRequire(import.meta.url);
const native = dirname(resolve('typescript/package.json'));
// A tool of this repository has an older compiler.
const core = createRequire(resolve('@arethetypeswrong/cli/package.json')).resolve('@arethetypeswrong/core');
const older = join(dirname(createRequire(core).resolve('typescript')), '..');

// Without a library, as that takes a second to check.
const globals = ['Array<T>', 'Boolean', 'CallableFunction', 'Function', 'IArguments', 'NewableFunction', 'Number'];
const files = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': JSON.stringify({
    compilerOptions: { strict: true, noLib: true, types: [], module: 'nodenext', target: 'es2022' },
    include: ['src'],
  }),
  'src/library.d.ts': [...globals, 'Object', 'RegExp', 'String'].map((name) => `interface ${name} {}`).join('\n'),
  'src/shapes/size.ts': `export type Size = { readonly width: number };\n`,
  'src/box.ts': `import type { Size } from './shapes/size.js';\nexport const box: Size = { width: 1 };\n`,
};

test.each([
  ['TypeScript 7, kept running', native],
  ['TypeScript 5, kept in a thread', older],
])(
  '%s checks what has changed',
  async (_, compiler) => {
    using project = makeProject(files);
    await using checker = TypeChecker.of(project.folder, { compiler });
    const path = (name: string) => join(project.folder, name);
    const check = async (changed: Readonly<Record<string, string | undefined>> = {}) => {
      for (const [name, text] of Object.entries(changed)) {
        mkdirSync(dirname(path(name)), { recursive: true });
        if (text === undefined) rmSync(path(name));
        else writeFileSync(path(name), text);
      }
      const problems = await checker?.check({ files: new Set(Object.keys(changed).map(path)), isAll: false });
      return describeTypeProblems(problems ?? [], { folder: project.folder, colors: false });
    };
    checker?.warmUp(Date.now());
    expect(await check()).toBe('');
    expect(checker?.sources).toEqual(expect.arrayContaining([path('src/box.ts'), path('src/shapes/size.ts')]));
    // By a change of a file that is no part of the program that runs.
    expect(await check({ 'src/shapes/size.ts': `export type Size = { readonly width: string };\n` })).toBe(
      `src/box.ts:2:28 - error TS2322: Type 'number' is not assignable to type 'string'.
  export const box: Size = { width: 1 };
                             ~~~~~`,
    );
    expect(await check({ 'src/box.ts': `const ü = '😀'; const x: number = ü;\n` })).toBe(
      `src/box.ts:1:23 - error TS2322: Type 'string' is not assignable to type 'number'.
  const ü = '😀'; const x: number = ü;
                        ~`,
    );
    const importing = `import { lid } from './lid.js';\nexport const box: number = lid;\n`;
    expect(await check({ 'src/box.ts': importing })).toMatch(
      /box\.ts:1:21 - error TS2307: Cannot find module '\.\/lid\.js'/,
    );
    expect(await check({ 'src/lid.ts': 'export const lid = 1;\n' })).toBe('');
    expect(await check({ 'src/lid.ts': undefined })).toMatch('error TS2307');
    expect(await check({ 'src/box.ts': 'const = 1;\n' })).toMatch(/src\/box\.ts:1:7 - error TS1134/);
    expect(await check({ 'src/box.ts': 'export const box = 1;\n' })).toBe('');
    // A superseded check has no answer.
    const checks = [checker?.check(anyChange), checker?.check(anyChange)];
    expect(await Promise.all(checks)).toEqual([undefined, []]);
  },
  120_000,
);

test('a compiler that cannot be kept running is run for each check', async () => {
  using project = makeProject({
    ...files,
    'compiler/package.json': JSON.stringify({
      version: '7.9.0',
      bin: { tsc: 'tsc.cjs' },
      exports: { './unstable/async': './changed.js' },
    }),
    'compiler/changed.js': 'export {};\n',
    'compiler/tsc.cjs': `process.argv[1] = ${JSON.stringify(join(native, 'bin/tsc'))}; import(process.argv[1]);\n`,
  });
  await using checker = TypeChecker.of(project.folder, { compiler: join(project.folder, 'compiler') });
  expect(await checker?.check()).toEqual([]);
  writeFileSync(
    join(project.folder, 'src/box.ts'),
    `export const box: { readonly a: { readonly b: number } } = { a: { b: 'text' } };\nlet x: (n: number) => void = (s: string) => {};\n`,
  );
  const problems = (await checker?.check()) ?? [];
  expect(problems.map(({ code, line }) => [code, line])).toEqual([
    [2322, 1],
    [2322, 2],
  ]);
  expect(problems[1]?.message).toMatch(/^Type .* is not assignable to type .*\n {2}Types of parameters/);
}, 120_000);

test('without a tsconfig.json there is nothing to check', () => {
  using project = makeProject({ 'package.json': '{}' });
  expect(TypeChecker.of(project.folder)).toBeUndefined();
});
