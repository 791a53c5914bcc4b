// Decoding Pods of about 6 KB: bare JSON.parse beside the list and watch decoders.
//   node --expose-gc bench/micro/decode.mjs [count]
import { loadSource } from './bundle.mjs';
import { listChunks, podBytes } from './pods.mjs';

const count = Number(process.argv[2] ?? 5_000);
const rounds = 5;
const { ListDecoder, WatchDecoder, listStream } = await loadSource({
  'rest/stream/list-decoder.js': ['ListDecoder'],
  'rest/stream/watch-decoder.js': ['WatchDecoder'],
  'rest/stream/list-stream.js': ['listStream'],
});
const pods = Array.from({ length: count }, (_, i) => podBytes(i));
const chunks = [...listChunks(count)].map((chunk) => Buffer.from(chunk));
const events = pods.map((pod) =>
  Buffer.from(`{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",${pod.toString().slice(1)}}\n`),
);

function drain(decoder, pieces, keep) {
  for (const piece of pieces) {
    decoder.push(piece);
    for (let element = decoder.next(); element !== undefined; element = decoder.next()) keep.push(element);
  }
  decoder.finish();
  for (let element = decoder.next(); element !== undefined; element = decoder.next()) keep.push(element);
}

/** The whole stream, with its slices, over an exchange that hands out chunks as fast as they are taken. */
async function stream(pieces, keep, options) {
  const exchanger = {
    exchange(sink) {
      let at = 0;
      let paused = false;
      const pump = () => {
        while (!paused && at < pieces.length) sink.onData(pieces[at++]);
        if (at === pieces.length) {
          at++;
          sink.onEnd();
        }
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
      pump();
    },
  };
  await listStream(exchanger, options).consume((item) => keep.push(item));
}

const cases = {
  'bare JSON.parse': (keep) => {
    for (const pod of pods) keep.push(JSON.parse(pod.toString()));
  },
  'list decode': (keep) => drain(new ListDecoder(), chunks, keep),
  'list decode, managedFields cut': (keep) => drain(new ListDecoder({ cutManagedFields: true }), chunks, keep),
  'list stream, managedFields cut': (keep) => stream(chunks, keep, { cutManagedFields: true }),
  'watch decode': (keep) => drain(new WatchDecoder(), events, keep),
  'watch decode, managedFields cut': (keep) => drain(new WatchDecoder({ cutManagedFields: true }), events, keep),
};

const best = Object.fromEntries(Object.keys(cases).map((name) => [name, Number.POSITIVE_INFINITY]));
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(cases)) {
    const keep = [];
    globalThis.gc?.();
    const before = process.cpuUsage();
    await run(keep);
    const { user, system } = process.cpuUsage(before);
    if (keep.length !== count) throw new Error(`${name}: ${keep.length} of ${count} objects`);
    best[name] = Math.min(best[name], (user + system) / count);
  }
}
const bare = best['bare JSON.parse'];
console.log(
  `${count} Pods, ${Math.round(pods.reduce((sum, pod) => sum + pod.length, 0) / count)} B each; CPU, best of ${rounds}`,
);
for (const [name, micros] of Object.entries(best)) {
  console.log(`${name.padEnd(34)} ${micros.toFixed(1).padStart(6)} µs/object  ${(micros / bare).toFixed(2)}×`);
}
