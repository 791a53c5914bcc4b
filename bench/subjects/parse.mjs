// parse.mjs <items file> count|keep: bare JSON.parse of the bytes of each item.
import { readFileSync } from 'node:fs';
import { cpuMs, report } from './probe.mjs';

const [file, what] = process.argv.slice(2);
const bytes = readFileSync(file);
const ends = [];
for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, end + 1)) ends.push(end);

const kept = [];
let count = 0;
const cpu = process.cpuUsage();
const begin = performance.now();
let start = 0;
for (const end of ends) {
  const item = JSON.parse(bytes.toString('utf8', start, end));
  if (item.metadata.name !== '') count++;
  if (what === 'keep') kept.push(item);
  start = end + 1;
}
report({ count, cpuMs: cpuMs(cpu), wallMs: performance.now() - begin });
