// pull.mjs <port> <bytes>: asks a forwarded port for bytes, reads them, and prints how many came.
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2);
const socket = connect({ port: Number(port), host: '127.0.0.1' });
socket.write(`${count}\n`);
let bytes = 0;
socket.on('data', (piece) => {
  bytes += piece.length;
  if (bytes >= Number(count)) process.stdout.write(`${bytes}\n`, () => process.exit(0));
});
