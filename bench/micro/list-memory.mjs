// One LIST of 50,000 Pods through the list stream: CPU, peak RSS and the longest block of the event loop of the reader.
// The Pods are made by another process, over HTTP, so that only the reading side is measured.
//   node bench/micro/list-memory.mjs [count] [cut|full|drop]     (drop: cut, and nothing kept)
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { loadSource } from './bundle.mjs';
import { listChunks } from './pods.mjs';

const [, self, first, second] = process.argv;
if (first === 'serve') serve(Number(second));
else await measure(Number(first ?? 50_000), second ?? 'cut');

function serve(count) {
  const body = [...listChunks(count, 65_536)].map((chunk) => Buffer.from(chunk));
  const few = [...listChunks(100)].map((chunk) => Buffer.from(chunk));
  const server = createServer(async ({ url }, response) => {
    for (const chunk of url === '/few' ? few : body) {
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}

async function measure(count, mode) {
  const server = spawn(process.execPath, [self, 'serve', String(count)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const port = await new Promise((resolve) => server.once('message', resolve));
  const { listStream, httpTransport } = await loadSource({
    'rest/stream/list-stream.js': ['listStream'],
    'rest/transport/http-transport.js': ['httpTransport'],
  });
  const transport = httpTransport({ server: `http://127.0.0.1:${port}` });
  const get = (path) => ({
    exchange: (sink, { signal }) => transport.dispatch({ method: 'GET', path, headers: {}, signal }, sink),
  });
  // Loading undici is not what is measured here.
  await listStream(get('/few')).collect();

  let peak = 0;
  let longest = 0;
  let last = performance.now();
  let running = true;
  let lastCpu = process.cpuUsage();
  const look = () => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(lastCpu);
    // Time in which the machine ran something else is not ours.
    longest = Math.max(longest, Math.min(now - last, (user + system) / 1e3));
    last = now;
    lastCpu = process.cpuUsage();
    peak = Math.max(peak, process.memoryUsage.rss());
    if (running) setImmediate(look);
  };
  look();
  const base = process.cpuUsage();
  const kept = [];
  const started = performance.now();
  const { count: seen } = await listStream(get('/all'), { cutManagedFields: mode !== 'full' }).consume((item) => {
    if (mode !== 'drop') kept.push(item);
  });
  running = false;
  const { user, system } = process.cpuUsage(base);
  const wall = performance.now() - started;
  console.log(
    `${seen} Pods, ${mode}: ${(wall / 1e3).toFixed(2)} s, CPU ${((user + system) / 1e6).toFixed(2)} s ` +
      `(${((user + system) / seen).toFixed(1)} µs each), peak RSS ${Math.round(peak / 2 ** 20)} MB, ` +
      `event loop blocked ${longest.toFixed(1)} ms at most`,
  );
  await transport.close();
  server.kill();
}
