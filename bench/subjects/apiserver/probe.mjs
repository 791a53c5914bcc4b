// Loaded into riata-apiserver before its program: answers questions about the process.
import { memoryUsage } from 'node:process';
import { LoopProbe } from '../probe.mjs';

let probe;
process.on('message', (what) => {
  if (what === 'probe') {
    probe = new LoopProbe().start();
    process.send({});
  } else if (what === 'stop probe') {
    process.send(probe.stop());
  } else if (what === 'memory') {
    globalThis.gc?.();
    process.send(memoryUsage());
  }
});
// The server ends with who measures it, and the channel does not keep it from ending before.
process.on('disconnect', () => process.exit());
process.channel?.unref();
