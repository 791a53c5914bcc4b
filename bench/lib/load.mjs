import { Connection } from './connection.mjs';
import { cpuMsOf } from './process-cost.mjs';

export async function openAll(server, count) {
  const opened = [];
  // A few at a time: a server takes only so many handshakes at once.
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(50, count - opened.length) }, () => Connection.open(server));
    opened.push(...(await Promise.all(some)));
  }
  return opened;
}

/** Does `count` things over these connections, each as fast as its answers come. */
export async function spread(connections, count, once) {
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) await once(connection, next++);
    }),
  );
}

/** Time by the clock and CPU time of the server for `work`. */
export async function timed(server, work) {
  const [cpu, from] = [cpuMsOf(server.pids), performance.now()];
  const result = await work();
  return { ms: performance.now() - from, cpuMs: cpuMsOf(server.pids) - cpu, result };
}

/** Makes `count` Deployments in namespaces of a thousand, unless they are there. */
export async function fill(server, make, count, from = 0) {
  const connections = await openAll(server, 10);
  for (let space = Math.ceil(from / 1000); space * 1000 < count; space++) {
    await connections[0].request('POST', '/api/v1/namespaces', { metadata: { name: `bench-${space}` } });
  }
  await spread(connections, count - from, async (connection, n) => {
    const i = from + n;
    const path = `/apis/apps/v1/namespaces/bench-${Math.floor(i / 1000)}/deployments`;
    await connection.request('POST', path, make(i));
  });
  for (const connection of connections) connection.close();
}
