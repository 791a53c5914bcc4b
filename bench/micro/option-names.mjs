// What the check for unknown options costs a client call: CPU of the check over an empty function, by its options.
//   node bench/micro/option-names.mjs [--count=2000000] [--rounds=9]
import { loadSource } from './bundle.mjs';

const options = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const count = Number(options.count ?? 2_000_000);
const rounds = Number(options.rounds ?? 9);
const { refuseUnknownOptions, getOptionNames, patchOptionNames, applyOptionNames, optionNames } = await loadSource({
  'runtime/option-names.js': ['refuseUnknownOptions', 'optionNames'],
  'client/options.js': ['getOptionNames', 'patchOptionNames'],
  'client/operation/apply-operation.js': ['applyOptionNames'],
});

const signal = new AbortController().signal;
// Created for each call, as callers do.
const cases = {
  'client.get, none': [() => undefined, getOptionNames],
  'client.get, signal': [() => ({ signal }), getOptionNames],
  'client.patch, signal and fieldManager': [() => ({ signal, fieldManager: 'web' }), patchOptionNames],
  'client.apply, 4 options': [() => ({ signal, fieldManager: 'web', force: true, dryRun: false }), applyOptionNames],
  'the same options each time': [() => shared, optionNames({ a: true, b: true, c: true })],
};
const shared = { a: 1, b: 2, c: 3 };

const none = () => {};
function nanoseconds(check, [make, names]) {
  const before = process.cpuUsage();
  for (let i = 0; i < count; i += 1) check('client.get', make(), names);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / count;
}

for (const [name, given] of Object.entries(cases)) {
  const samples = [];
  for (let round = 0; round < rounds; round += 1) {
    const stubbed = nanoseconds(none, given);
    samples.push(nanoseconds(refuseUnknownOptions, given) - stubbed);
  }
  samples.sort((a, b) => a - b);
  console.log(
    `${name}: ${samples[rounds >> 1].toFixed(0)} ns (${samples[0].toFixed(0)} to ${samples.at(-1).toFixed(0)})`,
  );
}
