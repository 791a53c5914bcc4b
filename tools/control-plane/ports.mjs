// @ts-check
import { createServer } from 'node:net';

// Below the range from which Linux and macOS take the local ports of outgoing connections. With a port from that range,
// a client that redials a stopped server can be given the server's port as its own, and the server cannot come back.
const first = 20_000;
const last = 29_999;

/**
 * Ports on 127.0.0.1 that were free a moment ago, all different. Whoever binds one has to be ready for a clash.
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function freePorts(count) {
  /** @type {Set<number>} */
  const ports = new Set();
  for (let tries = 0; ports.size < count; tries++) {
    if (tries > 1000) throw new Error(`no ${count} free ports between ${first} and ${last} on 127.0.0.1`);
    const port = first + Math.floor(Math.random() * (last - first + 1));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
