import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { CrdManifest } from '../../object/schema/crd-manifest.js';
import type { StructuralSchema } from '../../object/schema/structural-schema.js';
import { typesFromCrds } from './types-from-crds.js';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));

/** Texts that would end a literal, a comment or a declaration, and begin something else. */
const placeholder = (inner: string) => `$\{${inner}}`;
const hostile = [
  ...[
    `'; globalThis.injected = 1; '`,
    `"; globalThis.injected = 1; "`,
    `\`${placeholder('globalThis.injected = 1')}\``,
  ],
  ...['*/ globalThis.injected = 1; /*', '*\n/ globalThis.injected = 1; /*', '// x\n globalThis.injected = 1;'],
  ...[
    '\\',
    "\\'; globalThis.injected = 1; //",
    'a\\"b',
    'line\nbreak',
    'cr\rlf\r\n',
    'ls\u2028ps\u2029',
    '\ud800',
    '\0',
  ],
  ...[
    placeholder('x'),
    '</script>',
    '@ts-nocheck',
    '{',
    '}',
    '[x: string]',
    'ListMap',
    'a b',
    'ä',
    '日本',
    '',
    '1',
    '-',
  ],
];
const words = [
  ...'arguments await break case catch class const continue debugger default delete do else enum eval export'.split(
    ' ',
  ),
  ...'extends false finally for function if implements import in instanceof interface let new null package'.split(' '),
  ...'private protected public return static super switch this throw true try typeof var void while with'.split(' '),
  ...'yield any bigint boolean never number object string symbol undefined unknown abstract accessor as'.split(' '),
  ...'asserts async constructor declare from get global infer is keyof module namespace of out override'.split(' '),
  ...'readonly require satisfies set type unique using intrinsic defer __proto__ Object Array Promise'.split(' '),
  ...'Record globalThis NaN exports'.split(' '),
];

function definition(kind: string, schema: StructuralSchema, more: Partial<CrdManifest['spec']> = {}): CrdManifest {
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: {} };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `${kind}s.x` } },
    spec: { group: 'x.dev', scope: 'Namespaced', names: { kind, plural: 'x' }, versions: [version], ...more },
  } as CrdManifest;
}

const leaf = (description: string): StructuralSchema => ({ type: 'string', description });
const fields = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, leaf(name)]));
/** Every place in a schema that holds a text of its own. */
const schema: StructuralSchema = {
  type: 'object',
  description: hostile.join('\n'),
  required: hostile,
  properties: {
    ...fields([...hostile, ...words]),
    ['__proto__']: leaf('a field like any other'),
    choice: { type: 'string', enum: [...hostile, ...words] },
    mixed: { enum: [null, -1, 1e21, true, ...hostile.map((text) => ({ [text]: [text] }))] } as StructuralSchema,
    lists: { type: 'array', items: { type: 'array', items: { type: 'string', nullable: true } } },
    maybe: { type: 'array', items: { type: 'object', nullable: true, properties: fields(['a']) } },
    chosen: { type: 'array', items: { enum: [{ a: 1 }, { b: 2 }] } as StructuralSchema },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: fields(hostile) },
    values: { type: 'object', additionalProperties: { type: 'object', properties: fields(words) } },
    byName: {
      ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': hostile },
      items: { type: 'object', required: hostile, properties: fields(hostile) },
    },
  },
};

/** Compiles modules as a user does who is strict about it; resolves to what they export. */
async function compiled(texts: readonly string[]): Promise<Record<string, unknown>[]> {
  const folder = await mkdtemp(join(tmpdir(), 'riata-types-'));
  try {
    const object = JSON.stringify(join(root, 'packages/riata/src/object/index.js'));
    await writeFile(join(folder, 'object.d.ts'), `export * from ${object};\n`);
    await writeFile(join(folder, 'object.js'), 'export const makeKind = (facts) => facts;\n');
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await Promise.all(texts.map((text, index) => writeFile(join(folder, `m${index}.ts`), text)));
    const compilerOptions = { skipLibCheck: true, typeRoots: [join(root, 'node_modules/@types')], noEmit: false };
    const emit = { declaration: false, declarationMap: false, sourceMap: false, outDir: 'out', rootDir: '/' };
    const config = {
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: { ...compilerOptions, ...emit },
      files: texts.map((_, index) => `m${index}.ts`),
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const run = promisify(execFile)(process.execPath, [tsc, '-p', folder], { maxBuffer: 1 << 26 });
    await run.catch(({ stdout }: { stdout: string }) => {
      throw new Error(`what was generated does not compile:\n${stdout.slice(0, 4000)}`);
    });
    return await Promise.all(
      texts.map(async (_, index) => {
        const text = await readFile(join(folder, 'out', folder, `m${index}.js`), 'utf8');
        const path = join(folder, `m${index}.js`);
        await writeFile(path, text);
        return (await import(/* @vite-ignore */ pathToFileURL(path).href)) as Record<string, unknown>;
      }),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('whatever a definition says, what is generated compiles, and none of it is run', async () => {
  const injected = globalThis as { injected?: number };
  const names = [
    ...hostile.filter((text) => text !== ''),
    ...words,
    'Kind',
    'WriteMeta',
    'makeKind',
    'My-Kind',
    '9Lives',
  ];
  const simple: StructuralSchema = { type: 'object', properties: { spec: { type: 'string' } } };
  const importFrom = './object.js';
  // Names of hostile kinds end up the same, so each has a module of its own.
  const kinds = names.map((kind) => typesFromCrds([definition(kind, simple)], { importFrom }));
  const facts = hostile
    .filter((text) => text !== '')
    .map((text) => {
      const name = { kind: 'Foo', plural: text, singular: text, shortNames: [text], categories: [text] };
      const versions = ['v1', `x${text}`].map((version, index) => ({
        ...{ name: version, served: true, storage: index === 0 },
        ...{ schema: { openAPIV3Schema: simple }, subresources: { [text]: {} } },
      }));
      const spec = { group: text, names: name, versions } as unknown as CrdManifest['spec'];
      return typesFromCrds([definition('Foo', simple, spec)], { importFrom });
    });
  const cluster = typesFromCrds([definition('Foo', schema), definition('Bar', schema, { scope: 'Cluster' })], {
    importFrom,
  });
  const described = { ...simple, description: 'no ListMap, ClusterMeta or NamespacedMeta here' };
  const others = [typesFromCrds([]), typesFromCrds([definition('Foo', described)], { importFrom })];
  const modules = await compiled([...kinds, ...facts, cluster, ...others]);
  expect(injected.injected).toBeUndefined();
  for (const [index, kind] of names.entries()) {
    expect(Object.values(modules[index] ?? {})).toEqual([expect.objectContaining({ kind, group: 'x.dev' })]);
  }
  for (const [index, text] of hostile.filter((given) => given !== '').entries()) {
    const [one, two] = Object.values(modules[names.length + index] ?? {}) as Record<string, unknown>[];
    expect(one).toMatchObject({ group: text, version: 'v1', plural: text, singular: text, shortNames: [text] });
    expect(two).toMatchObject({ version: `x${text}`, subresources: [text], categories: [text] });
  }
});

test('names: those that can be used stay, others are made usable; what would clash or is missing is refused', () => {
  const simple: StructuralSchema = { type: 'object' };
  const nameOf = (kind: string) => /export const (\S+):/.exec(typesFromCrds([definition(kind, simple)]))?.[1];
  expect(['Foo', 'foo_$', 'My-Kind', 'string', 'Kind', '9Lives', 'a.b c', '日本'].map(nameOf)).toEqual([
    ...['Foo', 'foo_$', 'MyKind', 'stringKind', 'KindKind', '_9Lives', 'aBC', '_'],
  ]);
  const refused =
    (...crds: CrdManifest[]) =>
    () =>
      typesFromCrds(crds);
  expect(refused(definition('My-Kind', simple), definition('MyKind', simple))).toThrow('would both be named MyKind');
  expect(refused(definition('Foo', simple), definition('FooWrite', simple))).toThrow('would both be named FooWrite');
  expect(refused(definition('', simple))).toThrow('spec.names.kind must be a non-empty string, got ""');
  expect(refused(definition('Foo', simple, { group: 1 as never }))).toThrow('spec.group must be a non-empty string');
  expect(refused(definition('Foo', simple, { scope: "x'" as never }))).toThrow("spec.scope must be 'Namespaced' or");
});
