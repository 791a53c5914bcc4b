import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../../', import.meta.url);

/** Loads names out of the source, bundled as they are when published. `exports` maps files to names. */
export async function loadSource(exports) {
  const { build } = await import('rolldown');
  // Below the repository, so that packages which stay outside of the bundle are found.
  const folder = fileURLToPath(new URL(`node_modules/.cache/riata-bench-${process.pid}/`, root));
  await mkdir(folder, { recursive: true });
  const outfile = `${folder}bundle.mjs`;
  const entry = fileURLToPath(new URL('packages/riata/src/bench-entry.ts', root));
  const contents = Object.entries(exports).map(([file, names]) => `export { ${names.join(', ')} } from './${file}';`);
  await build({
    input: entry,
    platform: 'node',
    external: /^(?!@oxc-project\/runtime)[^./\0]/,
    transform: { target: 'node20' },
    plugins: [
      {
        name: 'bench-entry',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? contents.join('\n') : undefined),
      },
    ],
    output: { file: outfile, format: 'esm', codeSplitting: false },
  });
  const loaded = await import(pathToFileURL(outfile).href);
  await rm(folder, { recursive: true });
  return loaded;
}
