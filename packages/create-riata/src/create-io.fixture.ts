import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CreateIo } from './create-io.js';
import { createRiata } from './create-riata.js';

/** An empty folder, removed when it is disposed. */
export function emptyFolder(): { readonly folder: string; files(path?: string): string[] } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'create-riata-'));
  return {
    folder,
    files: (path = '') =>
      readdirSync(join(folder, path), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, path).length + 1))
        .sort(),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What the command wrote, ran, and how it ended. */
export interface CreateRun {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
  readonly ran: readonly string[];
}

/** Runs the command in a folder, without a terminal. Programs are not run, and exit with `installCode`. */
export async function createIn(
  cwd: string,
  args: readonly string[],
  given: Partial<CreateIo> & { readonly installCode?: number } = {},
): Promise<CreateRun> {
  const { installCode = 0, ...parts } = given;
  const [out, notes, ran]: [string[], string[], string[]] = [[], [], []];
  const io: CreateIo = {
    ...{ cwd, env: {} },
    out: (line) => void out.push(line),
    note: (line) => void notes.push(line),
    run: async (command, words, folder) => {
      ran.push(`${[command, ...words].join(' ')} in ${folder.slice(cwd.length + 1)}`);
      return installCode;
    },
    ...parts,
  };
  const code = await createRiata(args, io, '1.2.3');
  return { code, out: out.join('\n'), notes: notes.join('\n'), ran };
}

/** The text of a file. */
export const readText = (...path: string[]) => readFileSync(join(...path), 'utf8');
