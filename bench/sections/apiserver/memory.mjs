import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { number, table } from '../../lib/series.mjs';

export async function memory({ home, node, kept }) {
  const script = join(home, 'subjects/apiserver/memory.mjs');
  const { stdout } = await promisify(execFile)(node, ['--expose-gc', script, String(kept)], { timeout: 600_000 });
  const f = JSON.parse(stdout);
  const rows = [
    ['JSON as it is answered', number(f.jsonBytes)],
    ['heap', number(f.heapBytes)],
    ['outside the heap', number(f.outsideBytes)],
    ['RSS', number(f.rssBytes)],
    ['heap and outside, after they were listed once', number(f.listedBytes)],
  ];
  const text = `${table(['bytes per object', ''], rows)}\n\nIdle: ${number(f.idleMb)} MB RSS; peak with all of them listed: ${number(f.peakMb)} MB.`;
  return { title: `Memory of ${number(kept)} Deployments, in-process`, text, goals: [] };
}
