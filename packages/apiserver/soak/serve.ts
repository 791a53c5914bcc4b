import { ApiServer } from '../src/api-server.js';

/** A server on a data directory, until it is killed: it says where it listens in a line of JSON. */
const [, , dataDir] = process.argv;
const server = await ApiServer.start(dataDir === undefined ? {} : { dataDir });
const { url } = await server.listen({ tls: false });
process.stdout.write(`${JSON.stringify({ url, token: server.token })}\n`);
