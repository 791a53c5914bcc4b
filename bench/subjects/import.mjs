// import.mjs <module> [all] [before]: what importing it costs; with `all`, and touching everything that it exports; with
// `before`, after that module.
import { cpuMs, report, rssMb } from './probe.mjs';

const [name, all, before] = process.argv.slice(2);
if (before) await import(before);
const rss = rssMb();
const cpu = process.cpuUsage();
const begin = performance.now();
const module = await import(name);
let kinds = 0;
if (all) for (const value of Object.values(module)) if (value?.plural !== undefined) kinds++;
const wallMs = performance.now() - begin;
report({ wallMs, cpuMs: cpuMs(cpu), rssMb: rssMb() - rss, kinds });
