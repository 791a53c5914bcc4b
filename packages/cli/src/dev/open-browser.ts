import { spawn } from 'node:child_process';
import type { CommandIo } from '../command/command-io.js';

/** Opens a page in the browser: `$BROWSER`, or the one of the desktop. Reports a missing browser, and never throws. */
export function openBrowser(io: Pick<CommandIo, 'env' | 'note'>, url: string, platform = process.platform): void {
  const [command = '', ...args] = browserCommand(io.env.BROWSER, platform);
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true, env: { ...io.env } });
  child.on('error', ({ message }) => io.note(`cannot open a browser: ${message}; open ${url}`));
  child.unref();
}

function browserCommand(given: string | undefined, platform: NodeJS.Platform): readonly string[] {
  if (given) return [given];
  if (platform === 'darwin') return ['open'];
  // `start` is a command of the shell; its first argument in quotes is a title.
  return platform === 'win32' ? ['cmd', '/c', 'start', '""'] : ['xdg-open'];
}
