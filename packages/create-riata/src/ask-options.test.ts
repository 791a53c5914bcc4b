import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { emptyFolder, readText } from './create-io.fixture.js';
import { keys, runOnTerminal } from './terminal.fixture.js';

const program = ['../../../tools/run-ts.mjs', './bin.ts'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const command = [process.execPath, ...program];

test.runIf(process.platform === 'linux')('all questions on a terminal', async () => {
  using place = emptyFolder();
  const { code, output } = await runOnTerminal(command, place.folder, [
    ['Name of the project', `Shop${keys.enter}`],
    ['e.g. "shop"', `${'\x7f'.repeat(4)}shop-operator${keys.enter}`],
    ['Template', `${keys.down}${keys.enter}`],
    ['Kind that', `Shop${keys.enter}`],
    ['API group', keys.enter],
    ['Workflow', `${keys.up}${keys.enter}`],
    ['Install', 'n'],
  ]);
  expect(output).toContain('Next:');
  expect(code).toBe(0);
  expect(place.files('shop-operator')).toEqual(
    expect.arrayContaining(['src/shop-rules.ts', 'src/shop.ts', '.github/workflows/ci.yml']),
  );
  expect(readText(place.folder, 'shop-operator/src/shop.ts')).toContain("group: 'example.com'");
});

test.runIf(process.platform === 'linux')('flags are not asked for, and Ctrl-C leaves nothing', async () => {
  using place = emptyFolder();
  const flags = ['shop', '--template', 'minimal', '--kind', 'Shop', '--group', 'shop.dev'];
  const { code, output } = await runOnTerminal([...command, ...flags], place.folder, [['Workflow', keys.interrupt]]);
  expect(output).toContain('cancelled; nothing was written');
  expect(output).not.toContain('Kind that');
  expect({ code, files: place.files() }).toEqual({ code: 130, files: [] });
});
