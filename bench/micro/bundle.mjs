import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../../', import.meta.url);

/** Loads names out of the source, bundled as they are when published. `exports` maps files to names. */
export async function loadSource(exports) {
  const { build } = await import('esbuild');
  // Below the repository, so that packages which stay outside of the bundle are found.
  const folder = fileURLToPath(new URL(`node_modules/.cache/riata-bench-${process.pid}/`, root));
  await mkdir(folder, { recursive: true });
  const outfile = `${folder}bundle.mjs`;
  await build({
    stdin: {
      contents: Object.entries(exports)
        .map(([file, names]) => `export { ${names.join(', ')} } from './${file}';`)
        .join('\n'),
      resolveDir: fileURLToPath(new URL('packages/riata/src/', root)),
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    outfile,
    logLevel: 'error',
  });
  const loaded = await import(pathToFileURL(outfile).href);
  await rm(folder, { recursive: true });
  return loaded;
}
