import { execFileSync, fork, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const RESOURCE_VERSION = '60000000';
const LIMIT_MS = 300_000;
const script = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The server of informer-server.mjs and its files, for several numbers of Pods. */
export class ScriptedInformerServer {
  podBytes = 0;
  #child;
  #url;

  /** @param {{ folder: string, sizes: number[], events: number, node: string, encode?: string }} options */
  static async start({ folder, sizes, events, node, encode }) {
    const started = new ScriptedInformerServer();
    const folders = {};
    for (const size of sizes) {
      const home = join(folder, `pods-${size}`);
      mkdirSync(home);
      execFileSync(node, [script('./informer-data.mjs'), home, String(size), String(events), RESOURCE_VERSION]);
      if (encode) execFileSync(encode, [home, RESOURCE_VERSION]);
      else for (const name of ['added', 'modified', 'bookmark']) writeFileSync(join(home, `${name}.pb`), '');
      for (const name of ['added', 'modified']) rmSync(join(home, `${name}.ndjson`));
      folders[size] = home;
      started.podBytes = JSON.parse(readFileSync(join(home, 'pages.json'), 'utf8')).podBytes;
    }
    const settings = JSON.stringify({ folders, resourceVersion: RESOURCE_VERSION });
    const child = fork(script('./informer-server.mjs'), [settings], { execPath: node });
    const [{ port }] = await Promise.race([
      new Promise((resolve) => child.once('message', (...message) => resolve(message))),
      new Promise((_, reject) => {
        child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it was ready`)));
      }),
    ]);
    started.#child = child;
    started.#url = `http://127.0.0.1:${port}`;
    return started;
  }

  /**
   * Runs a program with the server's address and the number of events. It tells in one line what it took to sync, and
   * then, as the events are let go, in another what those took.
   */
  async measure(command, { size, events, args = [], before = [], env = {} }) {
    this.#child.send('hold');
    const child = spawn(command, [...before, `${this.#url}/${size}`, String(events), ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: LIMIT_MS,
    });
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? signal));
    });
    const lines = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(JSON.parse(line));
      if (lines.length === 1) this.#child.send('release');
    }
    const code = await ended;
    const [sync, watch] = lines;
    const name = [command, ...before, ...args].join(' ');
    if (code !== 0 || !watch) throw new Error(`${name} ended with ${code} after ${lines.length} of 2 lines`);
    if (sync.objects !== size || watch.events !== events)
      throw new Error(`${name}: ${sync.objects} of ${size} Pods and ${watch.events} of ${events} events came`);
    return {
      syncSeconds: sync.cpuMs / 1000,
      heapPerObject: sync.heapBytes / size,
      atSyncMb: sync.atSyncMb,
      rssMb: sync.rssMb,
      syncPeakMb: sync.peakMb,
      peakMb: watch.peakMb,
      eventUs: (watch.cpuMs * 1000) / events,
      blockMs: Math.max(sync.blockMs, watch.blockMs),
      blockCpuMs: Math.max(sync.blockCpuMs, watch.blockCpuMs),
      syncBlockMs: sync.blockMs,
      syncBlockCpuMs: sync.blockCpuMs,
      eventBlockMs: watch.blockMs,
      eventBlockCpuMs: watch.blockCpuMs,
    };
  }

  stop() {
    this.#child.disconnect();
  }
}
