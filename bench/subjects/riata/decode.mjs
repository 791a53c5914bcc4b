// decode.mjs <items file> full|cut: the list stream alone, fed from memory in pieces as TLS hands them out.
import { readFileSync } from 'node:fs';
import { listStream } from 'riata/rest';
import { cpuMs, LoopProbe, report } from '../probe.mjs';

const [file, fields] = process.argv.slice(2);
const PIECE = 16 * 1024;
const items = readFileSync(file);
for (let at = items.indexOf(10); at >= 0; at = items.indexOf(10, at + 1)) items[at] = 0x2c;
const head = Buffer.from('{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[');

/** Hands out pieces as fast as they are taken. */
const exchanger = {
  exchange(sink) {
    let at = 0;
    let paused = false;
    const end = items.length - 1;
    const pump = () => {
      while (!paused && at < end) {
        const piece = items.subarray(at, Math.min(end, at + PIECE));
        at += piece.length;
        sink.onData(piece);
      }
      if (at !== end || paused) return;
      at++;
      sink.onData(Buffer.from(']}'));
      sink.onEnd();
    };
    const flow = {
      pause: () => {
        paused = true;
      },
      resume: () => {
        paused = false;
        pump();
      },
      abort: (reason) => sink.onError(reason),
    };
    sink.onHeaders(200, {}, flow);
    sink.onData(head);
    pump();
  },
};

let count = 0;
const probe = new LoopProbe().start();
const cpu = process.cpuUsage();
const begin = performance.now();
await listStream(exchanger, { cutManagedFields: fields === 'cut' }).consume((pod) => {
  if (pod.metadata.name !== '') count++;
});
const wallMs = performance.now() - begin;
report({ count, cpuMs: cpuMs(cpu), wallMs, ...probe.stop() });
