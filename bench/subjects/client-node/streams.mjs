// streams.mjs <kubeconfig> download|upload <bytes> <warm-up bytes>: moves bytes through an exec.
import { Readable, Writable } from 'node:stream';
import { Exec, KubeConfig } from '@kubernetes/client-node';
import { moveBytes, zeros } from '../move-bytes.mjs';

const [kubeconfig, direction, count, warmUp] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromFile(kubeconfig);

/** Runs a command, and gives what it writes to a function, until the server has reported how it ended. */
async function run(command, stdin, onPiece) {
  const stdout = new Writable({
    write(piece, _encoding, done) {
      onPiece(piece);
      done();
    },
  });
  const socket = await new Promise((resolve, reject) => {
    new Exec(config)
      .exec('default', 'web', 'main', command, stdout, null, stdin, false, ({ status, message }) => {
        if (status !== 'Success') reject(new Error(message));
      })
      .then(resolve, reject);
  });
  await new Promise((resolve, reject) => {
    socket.on('close', resolve);
    socket.on('error', reject);
  });
}

const moves = {
  async download(bytes) {
    let total = 0;
    await run(['download', String(bytes)], null, (piece) => {
      total += piece.length;
    });
    return total;
  },
  async upload(bytes) {
    let text = '';
    await run(['upload'], Readable.from(zeros(bytes)), (piece) => {
      text += piece;
    });
    return Number(text);
  },
};
await moveBytes(moves[direction], Number(count), Number(warmUp));
