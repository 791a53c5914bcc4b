// @ts-check
// Lets the processes of a test run act on the control plane that `main.mjs run` started for them.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Opens an HTTP endpoint on loopback: POST with the secret as bearer token, options as JSON.
 * @param {import('./control-plane.mjs').ControlPlaneActions} plane
 */
export async function openControlEndpoint(plane) {
  const secret = randomBytes(24).toString('hex');
  /** @type {Record<string, (options: any) => Promise<unknown>>} */
  const actions = {
    '/restart-apiserver': (options) => plane.restartApiServer(options),
    '/stop-apiserver': (options) => plane.stopApiServer(options),
    '/start-apiserver': () => plane.startApiServer(),
    '/start-controller-manager': (options) => plane.startControllerManager(options),
    '/stop-controller-manager': () => plane.stopControllerManager(),
  };
  const server = createServer(async (request, response) => {
    const action = request.method === 'POST' ? actions[request.url ?? ''] : undefined;
    const answer = !isBearer(request.headers.authorization, secret)
      ? { status: 401, message: 'the secret is missing or wrong' }
      : !action
        ? { status: 404, message: `no action ${request.method} ${request.url}` }
        : await perform(action, await text(request));
    response.writeHead(answer.status, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ message: answer.message }));
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, secret, close };
}

/** @param {(options: unknown) => Promise<unknown>} action @param {string} body */
async function perform(action, body) {
  try {
    await action(body === '' ? {} : JSON.parse(body));
    return { status: 200, message: 'done' };
  } catch (error) {
    return { status: 500, message: error instanceof Error ? error.message : String(error) };
  }
}

/** @param {string | undefined} header @param {string} secret */
function isBearer(header, secret) {
  const given = Buffer.from(header ?? '');
  const expected = Buffer.from(`Bearer ${secret}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
