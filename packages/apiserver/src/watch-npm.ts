import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemClock } from 'riata/runtime';

const everyMs = 500;
/** npm, a shell, and the like between it and this process. */
const mostAncestors = 4;

/**
 * Finds the npm, npx, pnpm or yarn that started this process, and gives a promise that resolves when it has ended, or a
 * shell between both. A package manager that is killed does not pass the signal on: the server would go on unseen and
 * keep its port. The promise never resolves in a process that was started by anything else, and after `signal`.
 */
export async function watchNpm(signal: AbortSignal): Promise<{ readonly ended: Promise<void> }> {
  const ancestors = process.env.npm_execpath === undefined ? [] : await ancestorsUpToNpm();
  return { ended: ancestors.length === 0 ? new Promise(() => {}) : someEnded(ancestors, signal) };
}

async function someEnded(ancestors: readonly number[], signal: AbortSignal): Promise<void> {
  const parent = ancestors[0];
  while (process.ppid === parent && ancestors.every(isAlive)) {
    await systemClock.sleep(everyMs, { signal, background: true });
  }
}

/** The parent first, the package manager last; empty without one, or without `ps`. */
async function ancestorsUpToNpm(): Promise<readonly number[]> {
  const ancestors: number[] = [];
  for (let pid = process.ppid; pid > 1 && ancestors.length < mostAncestors; ) {
    const { parent, command } = await look(pid);
    ancestors.push(pid);
    if (/\b(?:npm|npx|pnpm|yarn)\b/.test(command)) return ancestors;
    pid = parent;
  }
  return [];
}

async function look(pid: number): Promise<{ readonly parent: number; readonly command: string }> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'ppid=,args=', '-p', String(pid)]);
    const [, parent = '0', command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout) ?? [];
    return { parent: Number(parent), command };
  } catch {
    return { parent: 0, command: '' };
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
