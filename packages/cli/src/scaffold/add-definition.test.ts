import { expect, test } from 'vitest';
import { addDefinitions } from './add-definition.js';

const added = [{ name: 'shops', from: './shops.js' }];
const add = (text: string) => addDefinitions('src/main.ts', text, added);

test('an import in its sorted place, and an element at the end', () => {
  expect(
    add(`import { isMain, run } from 'riata';
import { carts } from './carts.js';
import { users } from './users.js';

export const definitions = [carts, users];
`),
  ).toBe(`import { isMain, run } from 'riata';
import { carts } from './carts.js';
import { shops } from './shops.js';
import { users } from './users.js';

export const definitions = [carts, users, shops];
`);
});

test('one element per line, with comments, other quotes and no semicolons', () => {
  expect(
    add(`import { run } from "riata"
import { carts } from "./carts.js"

export const definitions: Definition[] = [
  carts, // the first one
]
`),
  ).toBe(`import { run } from "riata"
import { carts } from "./carts.js"
import { shops } from "./shops.js"

export const definitions: Definition[] = [
  carts, // the first one
  shops,
]
`);
  expect(add('export const definitions = [\r\n\tcarts // é, first\r\n] satisfies D[];\r\n')).toBe(
    "import { shops } from './shops.js';\r\n\r\nexport const definitions = [\r\n\tcarts, // é, first\r\n\tshops\r\n] satisfies D[];\r\n",
  );
});

test.each([
  ['[]', '[shops]'],
  ['[a]', '[a, shops]'],
  ['[a, ]', '[a, shops, ]'],
  ['[...others, admit(Site)] as const', '[...others, admit(Site), shops] as const'],
  ['[\n  a,\n  b\n]', '[\n  a,\n  b,\n  shops\n]'],
  ['[\n  a, b,\n]', '[\n  a, b,\n  shops,\n]'],
  ['[\n  control(Site).reconcile(() => {\n  }),\n]', '[\n  control(Site).reconcile(() => {\n  }),\n  shops,\n]'],
])('%s', (before, after) => {
  expect(add(`export const definitions = ${before};\n`)).toBe(
    `import { shops } from './shops.js';\n\nexport const definitions = ${after};\n`,
  );
});

test.each([
  ['const definitions = [a];', 'definitions is not exported'],
  ['export const definitions = make();', 'definitions is not an array literal'],
  ['await run(a);', 'it has no constant named definitions'],
])('another shape is refused, with the lines to add: %s', (text, problem) => {
  expect(() => add(text)).toThrow(
    `src/main.ts: cannot add shops: ${problem}. Run riata with --no-wire to write the files alone, then add these lines:
  import { shops } from './shops.js';`,
  );
});

test('names that are taken, and modules that do not compile, are refused', () => {
  expect(() => add("import { shops } from './other.js';")).toThrow('src/main.ts: "shops" exists already');
  expect(() => add('export const definitions = [')).toThrow(
    /^src\/main\.ts: .*; correct it first, then run riata again$/,
  );
});
