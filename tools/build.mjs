// @ts-check
/** Builds every package: declarations by tsc, code by rolldown (see bundle.mjs), without what nobody reaches (see slim.mjs). */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';
import { slim } from './slim.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const name of readdirSync(join(root, 'packages'))) {
  const dir = join(root, 'packages', name);
  if (!existsSync(join(dir, 'tsconfig.build.json'))) continue;
  rmSync(join(dir, 'dist'), { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(dir, 'tsconfig.build.json')],
    {
      stdio: 'inherit',
    },
  );
  const entries = await bundle(dir);
  slim(dir);
  // Pages for browsers are built by Vite, after all else: they are no part of the code that Node loads.
  if (existsSync(join(dir, 'vite.config.ts'))) {
    execFileSync(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'], {
      cwd: dir,
      stdio: 'inherit',
    });
  }
  console.log(`${name}: ${entries} entries built`);
}
