import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError } from '../command/command-error.js';

/** Files to write in a project, by their paths relative to it. */
export interface FilePlan {
  /** Must not exist yet. */
  readonly created: ReadonlyMap<string, string>;
  /** Exist, with their new text. @default none */
  readonly changed?: ReadonlyMap<string, string>;
}

/** Writes all files of a plan, or none. A file that exists is never overwritten unless the plan changes it. */
export async function writePlan(folder: string, { created, changed = new Map() }: FilePlan): Promise<void> {
  const inTheWay = [...created.keys()].filter((path) => existsSync(join(folder, path)));
  if (inTheWay.length > 0) {
    const [exist, them] = inTheWay.length === 1 ? ['exists', 'it'] : ['exist', 'them'];
    throw new CommandError(
      `${inTheWay.join(', ')} ${exist} already; nothing was written; rename or remove ${them} first, or choose another name`,
    );
  }
  const before = new Map<string, string>();
  const written: string[] = [];
  try {
    for (const [path, text] of created) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text, { flag: 'wx' });
      written.push(path);
    }
    for (const [path, text] of changed) {
      before.set(path, await readFile(join(folder, path), 'utf8'));
      await replaceFile(join(folder, path), text);
    }
  } catch (error) {
    for (const path of written) await rm(join(folder, path), { force: true });
    for (const [path, text] of before) await replaceFile(join(folder, path), text);
    throw error;
  }
}

/** By a rename, so that nothing reads half of a file. */
async function replaceFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.riata`;
  await writeFile(unfinished, text);
  await rename(unfinished, path);
}
