import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Whether there is a `riata.config.ts` in the folder or one above. */
export function hasConfig(folder: string): boolean {
  if (existsSync(join(folder, 'riata.config.ts'))) return true;
  const above = dirname(resolve(folder));
  return above !== folder && hasConfig(above);
}
