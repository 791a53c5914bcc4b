// @ts-check
/**
 * An old Node has to say that it is too old, and nothing else, when it imports a package as built. It links all files before
 * it runs the first, so nothing may be written, or imported by name, that it does not know. No old Node is needed to see that.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'rolldown/utils';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What Node 20 has and Node 16 has not: importing these by name fails before anything is run. */
const unknown = new Set(
  Object.entries({
    buffer: 'File isAscii isUtf8',
    console: 'createTask',
    crypto: 'getRandomValues hash subtle',
    diagnostics_channel: 'tracingChannel',
    dns: 'getDefaultResultOrder',
    'dns/promises': 'getDefaultResultOrder',
    events: 'addAbortListener getMaxListeners',
    fs: 'openAsBlob statfs statfsSync',
    'fs/promises': 'statfs',
    module: 'register',
    net: 'getDefaultAutoSelectFamily setDefaultAutoSelectFamily',
    os: 'availableParallelism',
    path: 'matchesGlob',
    process: 'availableMemory constrainedMemory getBuiltinModule loadEnvFile sourceMapsEnabled',
    readline: 'promises',
    'readline/promises': 'createInterface',
    stream: 'duplexPair getDefaultHighWaterMark isDestroyed isWritable setDefaultHighWaterMark',
    'stream/web': 'CompressionStream DecompressionStream',
    timers: 'promises',
    util: 'MIMEParams MIMEType aborted parseEnv styleText transferableAbortController transferableAbortSignal',
    v8: 'GCProfiler queryObjects',
    zlib: 'crc32',
  }).flatMap(([module, names]) => names.split(' ').map((name) => `${name} of node:${module}`)),
);

/** @param {string} code */
function importedNames(code) {
  return [...code.matchAll(/\bimport\b[^"'();{]*\{([^}]*)\}\s*from\s*["'](node:[^"']+)["']/g)].flatMap(
    ([, names = '', module]) =>
      names.split(',').flatMap((name) => (name.trim() ? [`${name.trim().split(/\s/)[0]} of ${module}`] : [])),
  );
}

/** @param {string} file */
async function problemsOf(file) {
  const code = readFileSync(file, 'utf8');
  const strange = importedNames(code).filter((name) => unknown.has(name));
  // What Node 16 does not understand comes out written in another way.
  const [asOld, asNew] = await Promise.all(['node16.20', 'esnext'].map((target) => transform(file, code, { target })));
  const problems = strange.map((name) => `imports ${name}, which Node 16 has not; take it from the default export`);
  if (asOld?.code !== asNew?.code) problems.push('has syntax that Node 16 does not know');
  return problems.map((problem) => `${file.slice(root.length)} ${problem}`);
}

/** What is printed when an entry is imported by a Node that says it is 18. @param {string} entry */
function onNode18(entry) {
  const program = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } });
    await import('${entry}').then(() => console.log('nothing'), (error) => console.log(error.stack));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' }).trim();
}

const names = readdirSync(join(root, 'packages'));
const files = names.flatMap((name) =>
  readdirSync(join(root, 'packages', name, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .map((file) => join(root, 'packages', name, 'dist', file)),
);
const problems = (await Promise.all(files.map(problemsOf))).flat();
const expected = 'Error: Riata needs Node 20.19 or newer; this is 18.20.8. Install a newer one, e.g. from nodejs.org.';
for (const name of names) {
  const { name: entry, peerDependencies } = JSON.parse(
    readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'),
  );
  // What riata loads comes after riata's own check.
  if (peerDependencies?.riata !== undefined) continue;
  const printed = onNode18(entry);
  if (printed !== expected) problems.push(`${entry} says on Node 18: ${printed.slice(0, 300)}`);
}
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${files.length} files would be linked by Node 16, and say that it is too old`);
process.exitCode = problems.length === 0 ? 0 : 1;
