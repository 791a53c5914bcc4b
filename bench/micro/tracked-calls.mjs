// What it costs to notice calls that a reconciler does not await: CPU per call, awaited, over a call that does nothing.
//   node bench/micro/tracked-calls.mjs [--count=200000] [--rounds=5]
// `first`: calls of which the line is looked up, as with the first hundred of each verb and kind. `trusted`: all others.
import { loadSource } from './bundle.mjs';

const options = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const count = Number(options.count ?? 200_000);
const rounds = Number(options.rounds ?? 5);
const { CallMemory, TrackedCalls, systemClock, silentLogger } = await loadSource({
  'controller/calls/call-memory.js': ['CallMemory'],
  'controller/calls/tracked-calls.js': ['TrackedCalls'],
  'runtime/time/system-clock.js': ['systemClock'],
  'runtime/log/logger.js': ['silentLogger'],
});

const answer = async () => {
  await null;
  return 1;
};
const calls = (memory) =>
  new TrackedCalls({ memory, clock: systemClock, log: () => silentLogger, caller: 'reconciler' });
const name = { verb: 'patch', args: [{ kind: 'ConfigMap' }] };
/** As deep as a reconciler usually is when it calls. */
const deep = async (call, depth) => (depth === 0 ? call() : await deep(call, depth - 1));
const cases = {
  plain: () => answer,
  first: () => {
    const memory = new CallMemory();
    memory.used = () => {};
    const { track } = calls(memory);
    return () => track(answer, name);
  },
  trusted: () => {
    const memory = new CallMemory();
    for (let i = 0; i < 100; i++) memory.used(name);
    const { track } = calls(memory);
    return () => track(answer, name);
  },
};

const results = Object.fromEntries(Object.keys(cases).map((key) => [key, []]));
for (let round = 0; round <= rounds; round++) {
  for (const [key, make] of Object.entries(cases)) {
    const call = make();
    const start = process.cpuUsage();
    for (let i = 0; i < count / 10; i++) {
      await deep(async () => {
        for (let j = 0; j < 10; j++) await call();
      }, 4);
    }
    const { user, system } = process.cpuUsage(start);
    if (round > 0) results[key].push(((user + system) * 1000) / count);
  }
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
console.log(`Node ${process.version}, ${count} calls, median of ${rounds}`);
for (const [key, values] of Object.entries(results)) console.log(`${key}: ${Math.round(median(values))} ns per call`);
