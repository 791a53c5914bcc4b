import { TarError } from './tar-header.js';

const fs = () => process.getBuiltinModule('node:fs/promises');
const paths = () => process.getBuiltinModule('node:path');

/**
 * Removes symbolic links below `target` that lead outside of it by way of each other: alone, each looked harmless. Throws
 * a {@link TarError} if there was one.
 */
export async function removeOutside(target: string, links: readonly string[]): Promise<void> {
  const outside: string[] = [];
  for (const below of links) if (!(await staysInside(target, below))) outside.push(below);
  for (const below of outside) await fs().rm(paths().join(target, below), { force: true });
  const [first] = outside;
  if (first === undefined) return;
  throw new TarError(`copy: the link ${JSON.stringify(first)} leads outside, by way of other links`);
}

/** As many links are followed as the kernel does. */
const maxLinks = 40;

/** Whether a link, followed as the kernel does, stays inside of `target` at every step. */
async function staysInside(target: string, below: string): Promise<boolean> {
  const { lstat, readlink } = fs();
  const reached: string[] = [];
  let rest = below.split('/');
  for (let links = 0; rest.length > 0; ) {
    const [part = '', ...others] = rest;
    rest = others;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (reached.pop() === undefined) return false;
      continue;
    }
    const path = paths().join(target, ...reached, part);
    const stats = await lstat(path).catch(() => undefined);
    if (!stats?.isSymbolicLink()) {
      reached.push(part);
      continue;
    }
    const leadsTo = await readlink(path);
    links += 1;
    if (links > maxLinks || paths().isAbsolute(leadsTo)) return false;
    rest = [...leadsTo.split('/'), ...rest];
  }
  return true;
}
