// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the samples are source code
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/** Path below src/ → text. */
type Sources = ReadonlyMap<string, string>;

/** Beneath all layers: the version that the build writes down. It imports nothing. */
const versionFile = 'version.ts';

/** What each layer may import besides itself. A new layer has to be entered here. */
const below: Readonly<Record<string, readonly string[]>> = (() => {
  const object = ['runtime'];
  const kinds = [...object, 'object'];
  const rest = [...kinds, 'kinds'];
  const client = [...rest, 'rest'];
  const cache = [...client, 'client', 'queue'];
  const controller = [...cache, 'cache'];
  const manager = [...controller, 'controller'];
  const shared = [...manager, 'manager'];
  const patterns = [...shared, 'shared'];
  // Webhooks know neither lasso's nor wrangler's way.
  const webhook = shared;
  const queue = ['runtime'];
  return { runtime: [], object, kinds, queue, rest, client, cache, controller, manager, shared, patterns, webhook };
})();

/** The rooms of each layer, below its folder. A new room has to be entered here and in docs/architecture. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  runtime: ['crypto', 'log', 'spdy', 'time', 'websocket'],
  object: [
    'apply',
    'apply/fields',
    'apply/typed',
    'cel',
    'patch',
    'quantity',
    'scan',
    'schema',
    'selector',
    'value',
    'version',
  ],
  kinds: [],
  queue: [],
  rest: ['auth', 'chain', 'config', 'errors', 'request', 'stream', 'transport', 'transport/http', 'websocket'],
  client: ['discovery', 'operation', 'stream', 'stream/copy', 'stream/proxy', 'watch'],
  cache: ['compat', 'decode', 'informer', 'own-writes', 'reflector', 'store'],
  controller: ['calls', 'cluster', 'define', 'loop', 'source', 'status', 'utilities'],
  manager: ['clusters', 'debug', 'debug/masking', 'election', 'events', 'probes', 'sharding'],
  shared: [],
  patterns: ['certificates', 'crds', 'desired-set', 'generating', 'manifests', 'status', 'summary'],
  webhook: ['admission', 'certificates', 'conversion', 'install', 'policy', 'review', 'router', 'server'],
};

const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a timer', /(?<![\w$.])(?:global(?:This)?\s*\.\s*)?(?:set|clear)(?:Timeout|Interval|Immediate)\b/],
  ['a timer', /\bAbortSignal\s*\.\s*timeout\b/],
  ['the wall clock', /\bDate\s*\.\s*now\b/],
  ['the wall clock', /\bnew\s+Date\s*(?:\(\s*\)|(?![\s\w$(.]))|(?<![\w$.]|new\s+)Date\s*\(/],
  ['the monotonic clock', /\bperformance\s*\.\s*now\b|\bprocess\s*\.\s*(?:hrtime|uptime)\b/],
  ['randomness', /\bMath\s*\.\s*random\b/],
  ['randomness', /\b(?:randomUUID|randomBytes|randomInt|getRandomValues)\b/],
  ['the console', /(?<![\w$.])(?:global(?:This)?\s*\.\s*)?console\s*[.[]/],
  ['the console', /\bprocess\s*\.\s*(?:stdout|stderr)\b/],
];

/**
 * The same text at the same length with comments, regular expressions and the insides of strings and templates as
 * spaces; code within `${}` stays. Enough of JavaScript's grammar for code that a formatter has gone over.
 */
function maskText(source: string): string {
  const out = source.split('');
  const blank = (from: number, to: number): void => {
    for (let at = from; at < to; at += 1) if (out[at] !== '\n') out[at] = ' ';
  };
  const endOf = (closing: string, from: number): number => {
    let inClass = false;
    for (let at = from; at < source.length; at += 1) {
      const char = source[at];
      if (char === '\\') at += 1;
      else if (closing === '/' && char === '[') inClass = true;
      else if (closing === '/' && char === ']') inClass = false;
      else if ((char === closing && !inClass) || char === '\n') return at;
    }
    return source.length;
  };
  /** Masks code up to the `}` that ends it, or the end of the file; gives the place after it. */
  const code = (from: number): number => {
    let depth = 0;
    let at = from;
    while (at < source.length) {
      const char = source[at];
      if (source.startsWith('//', at)) {
        const end = source.indexOf('\n', at);
        blank(at, end < 0 ? source.length : end);
        at = end < 0 ? source.length : end;
      } else if (source.startsWith('/*', at)) {
        const end = source.indexOf('*/', at + 2);
        blank(at, end < 0 ? source.length : end + 2);
        at = end < 0 ? source.length : end + 2;
      } else if (char === "'" || char === '"' || (char === '/' && startsRegex(out, at))) {
        const end = endOf(char, at + 1);
        blank(at + 1, end);
        at = end + 1;
      } else if (char === '`') {
        at = template(at + 1);
      } else if (char === '}' && depth-- === 0 && from > 0) {
        return at + 1;
      } else {
        if (char === '{') depth += 1;
        at += 1;
      }
    }
    return at;
  };
  const template = (from: number): number => {
    let at = from;
    while (at < source.length) {
      if (source[at] === '`') return at + 1;
      if (source.startsWith('${', at)) {
        blank(at, at + 2);
        at = code(at + 2);
        blank(at - 1, at);
      } else {
        const length = source[at] === '\\' ? 2 : 1;
        blank(at, at + length);
        at += length;
      }
    }
    return at;
  };
  code(0);
  return out.join('');
}

/** Whether the slash at this place opens a regular expression: it divides only after a value. */
function startsRegex(masked: readonly string[], slash: number): boolean {
  let end = slash;
  while (end > 0 && /\s/.test(masked[end - 1] ?? '')) end -= 1;
  const before = masked.slice(Math.max(0, end - 8), end).join('');
  return /(?:^|[^\w$)\]'"`]|\b(?:return|typeof|case|in|of|await|yield|throw|else|do))$/.test(before);
}

interface Import {
  readonly target: string;
  readonly kind: 'value' | 'type' | 'dynamic';
}

function importsOf(source: string): Import[] {
  const masked = maskText(source);
  const statement = /\b(import|export)\b(\s+type\b(?!\s*(?:,|from\b)))?[^;'"`()=]*?(?:\bfrom\s*)?(['"])( *)\3/g;
  const found: Import[] = [];
  for (const match of masked.matchAll(statement)) {
    const [whole, , type, , inside = ''] = match;
    const end = match.index + whole.length - 1;
    found.push({ target: source.slice(end - inside.length, end), kind: type ? 'type' : 'value' });
  }
  for (const match of masked.matchAll(/(\btypeof\s+)?\bimport\s*\(\s*(['"])( *)\2/g)) {
    const [whole, type, , inside = ''] = match;
    const end = match.index + whole.length - 1;
    // `import('./x.js').Name` among types looks the same as a dynamic import: it obeys the same rule.
    found.push({ target: source.slice(end - inside.length, end), kind: type ? 'type' : 'dynamic' });
  }
  return found;
}

/** The file that a relative import means, as a path below src/. */
function resolve(file: string, target: string): string {
  return posix.join(posix.dirname(file), target).replace(/\.js$/, '.ts');
}

function layerErrors(sources: Sources): string[] {
  const errors: string[] = [];
  for (const [file, source] of sources) {
    if (file === 'index.ts') continue;
    const layer = file.split('/')[0] ?? '';
    const allowed = file === versionFile ? [] : below[layer];
    if (allowed === undefined) {
      errors.push(`${file} belongs to no layer; they are ${Object.keys(below).join(', ')}`);
      continue;
    }
    for (const { target, kind } of importsOf(source)) {
      if (/^riata(?:\/|$)/.test(target))
        errors.push(`${file} imports its own package as '${target}'; use a relative path`);
      if (!target.startsWith('.')) continue;
      const other = resolve(file, target);
      const otherLayer = other.split('/')[0] ?? '';
      if (other === versionFile) continue;
      if (kind === 'type' ? otherLayer in below : otherLayer === layer || allowed.includes(otherLayer)) continue;
      errors.push(`${file} imports '${target}': ${layer}/ may import ${allowed.join(', ') || 'no other layer'}`);
    }
  }
  return errors;
}

/** Files that lie in no room of their layer. */
function roomErrors(sources: Sources): string[] {
  return [...sources.keys()].flatMap((file) => {
    const [layer = '', ...path] = posix.dirname(file).split('/');
    const room = path.join('/');
    if (!(layer in rooms) || layer === 'kinds' || room === '' || rooms[layer]?.includes(room)) return [];
    return [`${file} lies in no room of ${layer}/; they are ${rooms[layer]?.join(', ') || 'none'}`];
  });
}

/** Cycles of imports, those of types included; each is reported once, from the file reached first. */
function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    if (start >= 0) found.push([...path.slice(start), file].join(' → '));
    if (start >= 0 || done.has(file)) return;
    for (const { target, kind } of importsOf(sources.get(file) ?? '')) {
      if (kind !== 'dynamic' && target.startsWith('.')) visit(resolve(file, target), [...path, file]);
    }
    done.add(file);
  };
  for (const file of sources.keys()) visit(file, []);
  return found;
}

function seamErrors(sources: Sources): string[] {
  const errors: string[] = [];
  for (const [file, source] of sources) {
    if (file.startsWith('runtime/')) continue;
    const masked = maskText(source);
    for (const [what, pattern] of forbidden) {
      for (const match of masked.matchAll(new RegExp(pattern, 'g'))) {
        const line = masked.slice(0, match.index).split('\n').length;
        errors.push(`${file}:${line} touches ${what} (${match[0].trim()}); take it from runtime/ as an option`);
      }
    }
    for (const { target, kind } of importsOf(source)) {
      if (kind === 'type' || !/^(?:node:)?(?:timers(?:\/promises)?|console|perf_hooks)$/.test(target)) continue;
      errors.push(`${file} imports '${target}'; take it from runtime/ as an option`);
    }
  }
  return errors;
}

function readSources(root = dirname(fileURLToPath(import.meta.url))): Sources {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.ts$/.test(file) && !/\.(?:test|test-d|bench)\.ts$|\.d\.ts$/.test(file))
    .sort();
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

const sample = (files: Record<string, string>): Sources => new Map(Object.entries(files));

describe('the source of riata', () => {
  const sources = readSources();

  test('was found', () => {
    expect(sources.has('runtime/time/clock.ts')).toBe(true);
    expect(importsOf(sources.get('runtime/index.ts') ?? '').length).toBeGreaterThan(10);
  });

  test('imports point down', () => expect(layerErrors(sources)).toEqual([]));

  test('lies in rooms that are known', () => expect(roomErrors(sources)).toEqual([]));

  test('has no import cycle', () => expect(cycles(sources)).toEqual([]));

  test('touches time, randomness and the console only in runtime/', () => expect(seamErrors(sources)).toEqual([]));
});

describe('the other packages', () => {
  test.each(['apiserver', 'cli', 'create-riata', 'dashboard', 'sandbox', 'testing'])(
    '%s has no import cycle',
    (name) => {
      const sources = readSources(fileURLToPath(new URL(`../../${name}/src`, import.meta.url)));
      expect(sources.has('index.ts')).toBe(true);
      expect(cycles(sources)).toEqual([]);
    },
  );
});

/** The rooms of packages/cli. A new room has to be entered here and in docs/architecture/cli.md. */
const cliRooms = 'chart command completion config deploy dev image inspect manifests olm scaffold serve'.split(' ');

/** What is wrong between the rooms of packages/cli: the frame knows no room, and only bin.ts touches the process. */
function cliErrors(sources: Sources): string[] {
  return [...sources].flatMap(([file, source]) => {
    const room = file.split('/')[0] ?? '';
    if (file === 'bin.ts' || file === 'index.ts' || file.endsWith('.fixture.ts')) return [];
    if (!cliRooms.includes(room)) return [`${file} lies in no room of packages/cli; they are ${cliRooms.join(', ')}`];
    const touched = /(?<![\w$.#])process\s*\.\s*(?:std\w+|env|argv|cwd|chdir|exit\w*|on|once|kill)\b/.exec(
      maskText(source),
    );
    const frame = { command: ['command'], config: ['command', 'config'] }[room];
    const wrong = importsOf(source).filter(({ target, kind }) => {
      if (kind === 'type' || !target.startsWith('.') || file === 'command/program.ts') return false;
      return frame !== undefined && !frame.includes(resolve(file, target).split('/')[0] ?? '');
    });
    return [
      ...(touched ? [`${file} touches the process (${touched[0]}); take it from CommandIo`] : []),
      ...wrong.map(({ target }) => `${file} imports '${target}': ${room}/ is the frame and knows no other room`),
    ];
  });
}

describe('the rooms of packages/cli', () => {
  test('the frame knows no room, and only bin.ts touches the process', () => {
    const sources = readSources(fileURLToPath(new URL('../../cli/src', import.meta.url)));
    expect(cliErrors(sources)).toEqual([]);
    const own = new Map([...sources].filter(([file]) => file !== 'bin.ts' && !file.endsWith('.fixture.ts')));
    expect(seamErrors(own)).toEqual([]);
  });

  test.each([
    ['command/a.ts', "import { b } from '../config/b.js';"],
    ['config/a.ts', "const b = await import('../dev/b.js');"],
    ['dev/a.ts', 'const folder = process.cwd();'],
    ['cellar/a.ts', ''],
  ])('refuses %s: %s', (file, source) => expect(cliErrors(sample({ [file]: source }))).toHaveLength(1));

  test.each([
    ['command/program.ts', "import { b } from '../dev/b-command.js';"],
    ['dev/a.ts', "import { b } from '../manifests/b.js'; const id = process.pid; this.#process.on('exit', b);"],
    ['command/a.ts', "import type { Operator } from '../config/b.js';"],
  ])('allows %s: %s', (file, source) => expect(cliErrors(sample({ [file]: source }))).toEqual([]));
});

describe('the suites that also run on the packed packages', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const suites = ['riata/behaviour', 'riata/faults', 'sandbox/behaviour', 'testing/behaviour'];

  test.each(suites)('%s imports packages by name', (suite) => {
    const files = readdirSync(join(root, suite)).filter((file) => file.endsWith('.ts'));
    expect(files).not.toEqual([]);
    const wrong = files.flatMap((file) =>
      importsOf(readFileSync(join(root, suite, file), 'utf8'))
        .filter(({ target }) => /(?:^|\/)src\//.test(target) && !target.endsWith('.fixture.js'))
        .map(({ target }) => `${suite}/${file} imports '${target}'; import the package by its name`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the layer rule', () => {
  test.each([
    ['rest/a.ts', "import { a } from '../client/b.js';"],
    ['rest/a.ts', "export { a } from '../client/b.js';"],
    ['rest/a.ts', "export * from '../client/b.js';"],
    ['rest/a.ts', "import '../client/b.js';"],
    ['rest/a.ts', "import { type A } from '../client/b.js';"],
    ['rest/a.ts', "import type, { b } from '../client/b.js';"],
    ['rest/a.ts', "const b = await import('../client/b.js');"],
    ['rest/deep/a.ts', 'import {\n  a,\n  b as c,\n} from "../../client/b.js"'],
    ['rest/a.ts', "import { Queue } from '../queue/b.js';"],
    ['queue/a.ts', "import { key } from '../object/b.js';"],
    ['webhook/a.ts', "import { b } from '../patterns/b.js';"],
    ['runtime/a.ts', "import { b } from '../object/b.js';"],
    ['rest/a.ts', "import { b } from '../index.js';"],
    ['rest/a.ts', "import { b } from '../../../apiserver/src/index.js';"],
    ['rest/a.ts', "import type { B } from '../../../apiserver/src/index.js';"],
    ['client/a.ts', "import { b } from 'riata/rest';"],
    ['version.ts', "import { b } from './runtime/b.js';"],
    ['helpers/a.ts', ''],
    ['helpers.ts', ''],
  ])('refuses %s: %s', (file, source) => {
    expect(layerErrors(sample({ [file]: source }))).toHaveLength(1);
  });

  test.each([
    [
      'client/a.ts',
      "import { a } from '../rest/b.js'; import { c } from './c.js'; import { readFile } from 'node:fs';",
    ],
    ['controller/a.ts', "import type { Manager } from '../manager/b.js'; export type { M } from '../manager/c.js';"],
    ['controller/a.ts', "type M = typeof import('../manager/b.js');"],
    [
      'rest/a.ts',
      "// import { a } from '../client/b.js';\n/* import '../client/b.js' */ const s = \"import '../client/b.js'\";",
    ],
    ['rest/a.ts', "const s = `import { a } from '../client/b.js'`; const from = 'riata';"],
    ['rest/a.ts', "import { version } from '../version.js';"],
    ['index.ts', "export { a } from './webhook/b.js';"],
    ['cache/a.ts', "import { Queue } from '../queue/b.js';"],
  ])('allows %s: %s', (file, source) => {
    expect(layerErrors(sample({ [file]: source }))).toEqual([]);
  });
});

describe('the rule on rooms', () => {
  test('names the file and the rooms that there are', () => {
    expect(roomErrors(sample({ 'client/a.ts': '', 'client/watch/b.ts': '', 'client/cellar/c.ts': '' }))).toEqual([
      'client/cellar/c.ts lies in no room of client/; they are discovery, operation, stream, stream/copy, stream/proxy, watch',
    ]);
  });
});

describe('the rule on cycles', () => {
  const three = (last: string) =>
    sample({
      'object/a.ts': "import { b } from './b.js';",
      'object/b.ts': "export { c } from './deep/c.js';",
      'object/deep/c.ts': last,
    });

  test('names the files of a cycle', () => {
    expect(cycles(three("import { a } from '../a.js';"))).toEqual([
      'object/a.ts → object/b.ts → object/deep/c.ts → object/a.ts',
    ]);
    expect(cycles(sample({ 'object/a.ts': "import { a } from './a.js';" }))).toEqual(['object/a.ts → object/a.ts']);
  });

  test('counts imports of types', () => {
    expect(cycles(three("import type { A } from '../a.js';"))).toHaveLength(1);
  });

  test('leaves out imports that are made later', () => {
    expect(cycles(three("const a = () => import('../a.js');"))).toEqual([]);
  });
});

describe('the rule on time, randomness and the console', () => {
  test.each([
    'setTimeout(f, 5);',
    'globalThis.setInterval(f, 5);',
    'const t: ReturnType<typeof setImmediate> = x;',
    'clearTimeout(t);',
    'AbortSignal.timeout(5)',
    'const now = Date.now();',
    'const now = Date\n  .now;',
    'const d = new Date();',
    'const d = new Date;',
    'const d = [new Date( )];',
    'const s = Date();',
    'performance.now()',
    'process.hrtime.bigint()',
    'Math.random()',
    'crypto.randomUUID()',
    "import { randomBytes } from 'node:crypto';",
    "console.log('x');",
    "console['log']('x');",
    'process.stdout.write(x);',
    'process.stderr.write(x);',
    "import { scheduler } from 'node:timers/promises';",
    'const s = `now: ${Date.now()}`;',
    'const s = `a ${`b ${Math.random()}`}`;',
    'const half = a / 2; Math.random(); const b = c / 2;',
    "const quote = /'/; Math.random(); const other = /'/;",
    "const slash = /[/']/; Math.random(); // '",
  ])('refuses %s', (source) => {
    expect(seamErrors(sample({ 'rest/a.ts': source }))).toHaveLength(1);
    expect(seamErrors(sample({ 'runtime/a.ts': source }))).toEqual([]);
  });

  test.each([
    '/** Unlike console.log or setTimeout, Date.now() */ const a = 1; // Math.random()',
    'const text = \'console.log(Date.now())\' + "new Date()" + `setTimeout ${a} Math.random()`;',
    "const text = 'it\\'s // console.log'; const url = 'http://x';",
    'const d = new Date(ms); const e = new Date(Date.parse(s)); const f = Date.UTC(2026, 0);',
    'this.clock.now(); socket.setTimeout(5); options.console;',
    'type Console = { dateNow: Date }; function f(d: Date) {}',
    'const pattern = /console.log|Date.now/; const x = a / console_ / b;',
    'if (x) { y } /* ` */ const s = `a } ${ { b: `}` }.b } setTimeout`;',
  ])('allows %s', (source) => {
    expect(seamErrors(sample({ 'rest/a.ts': source }))).toEqual([]);
  });

  test('says where', () => {
    expect(seamErrors(sample({ 'rest/a.ts': '/*\n\n*/ Date.now();' }))).toEqual([
      'rest/a.ts:3 touches the wall clock (Date.now); take it from runtime/ as an option',
    ]);
  });
});
