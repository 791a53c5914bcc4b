// import.mjs <module> [all]: what importing it costs; with `all`, after touching everything that it exports.
import { cpuMs, report, rssMb } from './probe.mjs';

const [name, all] = process.argv.slice(2);
const rss = rssMb();
const cpu = process.cpuUsage();
const begin = performance.now();
const module = await import(name);
let kinds = 0;
if (all) for (const value of Object.values(module)) if (value?.plural !== undefined) kinds++;
const wallMs = performance.now() - begin;
report({ wallMs, cpuMs: cpuMs(cpu), rssMb: rssMb() - rss, kinds });
