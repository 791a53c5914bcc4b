// @ts-check
import { open, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 5_000;
const staleMs = 30_000;
const pollMs = 250;

/**
 * Waits for the lock file, runs `work`, removes the file. A lock whose holder died is taken over. It saves double work
 * and is not relied on for more: in the worst race of two takeovers both run.
 * @template T
 * @param {string} path
 * @param {{ onWait?: () => void }} options `onWait` is called once if somebody else holds it.
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withFileLock(path, { onWait }, work) {
  for (let waited = false; !(await tryLock(path)); waited = true) {
    if (await isStale(path)) {
      await breakLock(path);
      continue;
    }
    if (!waited) onWait?.();
    await sleep(pollMs);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, heartbeatMs);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

/** @param {string} path */
async function tryLock(path) {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname() }));
    await file.close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} path */
async function isStale(path) {
  try {
    if (Date.now() - (await stat(path)).mtimeMs > staleMs) return true;
    const { pid, host } = JSON.parse(await readFile(path, 'utf8'));
    return host === hostname() && !isAlive(pid);
  } catch {
    return false; // removed or being written at this moment
  }
}

/** Moved away before it is removed: of several that saw the dead lock, one moves it. @param {string} path */
async function breakLock(path) {
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
    await rm(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {unknown} error */
const codeOf = (error) => /** @type {NodeJS.ErrnoException} */ (error).code;
