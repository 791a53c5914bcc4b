import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isMain } from './is-main.js';

const folder = mkdtempSync(join(tmpdir(), 'riata-is-main-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const build = await rolldown({ input: fileURLToPath(new URL('is-main.ts', import.meta.url)), platform: 'node' });
  await build.write({ file: join(folder, 'is-main.mjs'), format: 'esm' });
  await build.close();
  mkdirSync(join(folder, 'app'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const program = `import { isMain } from '${join(folder, 'is-main.mjs')}';\nconsole.log(isMain(import.meta.url));\n`;
  writeFileSync(join(folder, 'main.js'), program);
  writeFileSync(join(folder, 'app/index.js'), program);
  writeFileSync(join(folder, 'importer.js'), `import './main.js';\n`);
  symlinkSync(join(folder, 'main.js'), join(folder, 'linked'));
});

const print = (...args: string[]) => execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).trim();

test('the program that Node was started with is the main module', () => {
  expect(print('main.js')).toBe('true');
  expect(print(join(folder, 'main.js'))).toBe('true');
  expect(print('linked')).toBe('true');
});

test('an imported module is not', () => {
  expect(print('importer.js')).toBe('false');
  expect(print('--input-type=module', '-e', `await import('${join(folder, 'main.js')}')`)).toBe('false');
});

test('neither is what has no file', () => {
  expect(isMain('data:text/javascript,1')).toBe(false);
  expect(isMain('file:///nowhere/main.js')).toBe(false);
});
