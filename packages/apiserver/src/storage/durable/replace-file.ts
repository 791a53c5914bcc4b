import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a file atomically, also with respect to power loss. */
export async function replaceFile(path: string, content: string, mode = 0o600): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, 'w', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** Makes the names in a directory durable. Windows neither supports nor needs this. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
