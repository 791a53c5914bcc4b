import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ProjectFiles } from './render-template.js';

/** What a folder may contain and still count as empty: a repository without commits, for instance. */
const ignored: ReadonlySet<string> = new Set(['.git', '.DS_Store']);

/** The entries of a folder that are in the way of a new project; none if it does not exist. */
export async function entriesInTheWay(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !ignored.has(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Writes a new project: all of it, or nothing. The files go to a folder beside it first, which is then renamed. A folder
 * that exists may be the current one of a shell, so it is kept, and the files are moved there.
 */
export async function writeProject(folder: string, files: ProjectFiles): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const temporary = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  // Inside, as the temporary folder itself is closed to other users.
  const complete = join(temporary, 'project');
  try {
    for (const [path, text] of files) {
      await mkdir(dirname(join(complete, path)), { recursive: true });
      await writeFile(join(complete, path), text);
    }
    if (existsSync(folder)) await moveInto(folder, complete);
    else await rename(complete, folder);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function moveInto(folder: string, complete: string): Promise<void> {
  const moved: string[] = [];
  try {
    for (const name of await readdir(complete)) {
      await rename(join(complete, name), join(folder, name));
      moved.push(name);
    }
  } catch (error) {
    for (const name of moved) await rm(join(folder, name), { recursive: true, force: true });
    throw error;
  }
}
