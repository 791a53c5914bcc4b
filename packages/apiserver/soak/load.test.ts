import { once, setMaxListeners } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeError, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { type ServerProcess, ServerProgram } from './server-program.js';

const seconds = Number(process.env.LOAD_SECONDS ?? 600);
const watchers = Number(process.env.LOAD_WATCHERS ?? 1_000);
const writers = Number(process.env.LOAD_WRITERS ?? 200);
const namespaces = 20;
/** History is kept for so long, and takes memory until then. */
const historySeconds = 330;

/** What the writers and watchers of a run have seen. */
interface Load {
  readonly latencies: number[];
  readonly errors: string[];
  events: number;
}

test(`${watchers} watchers and ${writers} writers for ${seconds} s: no error, and memory stays flat`, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'riata-load-'));
  await using program = await ServerProgram.build();
  const server = await program.start(dataDir);
  const load: Load = { latencies: [], errors: [], events: 0 };
  const stopping = new AbortController();
  try {
    for (let n = 0; n < namespaces; n++) await create(server, '/api/v1/namespaces', 'Namespace', `load-${n}`);
    const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
    setMaxListeners(watchers + 1, stopping.signal);
    // A few at a time: a thousand connections at once are another test.
    for (let n = 0; n < watchers; n += 50) {
      const some = Array.from({ length: Math.min(50, watchers - n) }, (_, i) => (n + i) % namespaces);
      await Promise.all(some.map((ns) => watch(server, agent, ns, load, stopping.signal)));
    }
    const end = systemClock.monotonic() + seconds * 1000;
    const writing = Array.from({ length: writers }, (_, n) => write(server, n, end, load));
    const memory = await sampledUntil(end, server.pid);
    await Promise.all(writing);
    stopping.abort();
    report(load, memory);
    expect(load.errors.slice(0, 5)).toEqual([]);
    expect(load.events).toBeGreaterThan(load.latencies.length);
    const flat = memory.filter(({ atSeconds }) => atSeconds > historySeconds).map(({ megabytes }) => megabytes);
    const third = Math.floor(flat.length / 3);
    if (third > 2) expect(median(flat.slice(-third))).toBeLessThan(median(flat.slice(0, third)) * 1.15);
  } finally {
    stopping.abort();
    await server.kill();
    await rm(dataDir, { recursive: true, force: true });
  }
});

async function create(server: ServerProcess, path: string, kind: string, name: string): Promise<void> {
  const response = await server.request('POST', path, { apiVersion: 'v1', kind, metadata: { name } });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

/** Counts events, and reports an end that nobody asked for. Resolves when it has begun. */
async function watch(server: ServerProcess, agent: Agent, n: number, load: Load, signal: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${server.token}` };
  const path = `/api/v1/namespaces/load-${n}/configmaps?watch=1&timeoutSeconds=${seconds + 600}`;
  const failed = (what: string) => {
    if (!signal.aborted) load.errors.push(`watch: ${what}`);
  };
  const request = get(server.url + path, { agent, headers }, (response) => {
    response.on('data', (part: Uint8Array) => {
      for (const byte of part) if (byte === 10) load.events += 1;
    });
    response.on('error', (error) => failed(error.message));
    response.on('end', () => failed(`ended with ${response.statusCode}`));
  });
  request.on('error', (error) => failed(error.message));
  signal.addEventListener('abort', () => request.destroy(), { once: true });
  await once(request, 'response');
}

/** Changes an object of its own again and again. */
async function write(server: ServerProcess, n: number, end: number, load: Load): Promise<void> {
  const path = `/api/v1/namespaces/load-${n % namespaces}/configmaps`;
  const name = `writer-${n}`;
  try {
    await create(server, path, 'ConfigMap', name);
    for (let count = 0; systemClock.monotonic() < end; count++) {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { count: String(count) } };
      const began = systemClock.monotonic();
      const response = await server.request('PUT', `${path}/${name}`, object);
      const text = await response.text();
      load.latencies.push(systemClock.monotonic() - began);
      if (!response.ok) load.errors.push(`write: ${response.status} ${text}`);
    }
  } catch (error) {
    const { message, cause } = error as Error;
    load.errors.push(`write: ${message}${cause === undefined ? '' : `: ${describeError(cause)}`}`);
  }
}

interface Sample {
  readonly atSeconds: number;
  readonly megabytes: number;
}

/** The memory of a process, every two seconds. */
async function sampledUntil(end: number, pid: number): Promise<Sample[]> {
  const began = systemClock.monotonic();
  const samples: Sample[] = [];
  while (systemClock.monotonic() < end) {
    await systemClock.sleep(2_000);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const megabytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    samples.push({ atSeconds: (systemClock.monotonic() - began) / 1000, megabytes });
  }
  return samples;
}

function report({ latencies, events, errors }: Load, memory: readonly Sample[]): void {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number) => `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)} ms`;
  const rss = memory.map(({ megabytes }) => megabytes);
  process.stdout.write(
    `${latencies.length} writes (${(latencies.length / seconds).toFixed(0)}/s), p50 ${at(0.5)}, p99 ${at(0.99)}; ` +
      `${events} events; ${errors.length} errors; memory ${Math.min(...rss).toFixed(0)}–${Math.max(...rss).toFixed(0)} MB\n`,
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
