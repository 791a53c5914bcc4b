import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

let ticks;
function ticksPerSecond() {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}

/** CPU time of processes with all their threads, in ms. The kernel counts it in steps of 10 ms. */
export function cpuMsOf(pids) {
  let spent = 0;
  for (const pid of pids) {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    spent += Number(fields[11]) + Number(fields[12]);
  }
  return (spent * 1000) / ticksPerSecond();
}

/** Resident memory of processes, in MB. */
export function rssMbOf(pids) {
  let kilobytes = 0;
  for (const pid of pids) kilobytes += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]);
  return kilobytes / 1024;
}

/** The processes whose command line has this word. */
export function pidsWith(word) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false; // it has ended meanwhile
    }
  });
}
