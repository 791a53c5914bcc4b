// receive.mjs <kubeconfig> tls|riata: receives the long list over HTTPS and only counts its bytes. `tls` reads a bare
// socket into one buffer, so that what is left is kernel and decryption; `riata` is the transport that lists come by.
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { cpuMs, peakMb, report } from './probe.mjs';

const [kubeconfig, how] = process.argv.slice(2);
const text = readFileSync(kubeconfig, 'utf8');
const { hostname: host, port, origin, pathname } = new URL(/server: (\S+)/.exec(text)[1]);
const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)[1], 'base64');
const path = `${pathname}/api/v1/pods`;
const END = '\r\n0\r\n\r\n';
let bytes = 0;
let pieces = 0;
let cpu;
let begin;
const start = () => {
  cpu = process.cpuUsage();
  begin = performance.now();
};
const done = () => report({ bytes, pieces, cpuMs: cpuMs(cpu), wallMs: performance.now() - begin, peakMb: peakMb() });

if (how === 'tls') {
  const buffer = Buffer.allocUnsafeSlow(16_384);
  const callback = (length) => {
    bytes += length;
    pieces++;
    if (buffer.toString('latin1', Math.max(0, length - END.length), length).endsWith(END.slice(2))) done();
    return true;
  };
  const socket = connect({ host, port, ca, onread: { buffer, callback } }, () => {
    start();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  });
} else if (how === 'riata') {
  const { httpTransport } = await import('riata/rest');
  const transport = httpTransport({
    server: origin + pathname,
    disableCompression: true,
    credentials: { tls: () => ({ ca }) },
  });
  start();
  transport.dispatch(
    { method: 'GET', path: '/api/v1/pods', headers: {} },
    {
      onHeaders() {},
      onData(chunk) {
        bytes += chunk.length;
        pieces++;
      },
      onEnd: done,
      onError(error) {
        throw error;
      },
    },
  );
}
