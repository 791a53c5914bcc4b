import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { number, rowOf, Series, table } from '../../lib/series.mjs';

const measured = {
  jsonBytes: 'JSON as it is answered',
  heapBytes: 'heap',
  outsideBytes: 'outside the heap',
  rssBytes: 'RSS',
  listedBytes: 'heap and outside, after they were listed once',
};

export const memory = {
  name: 'apiserver-memory',
  needs: ['apiserver'],
  rounds: () => 1,
  async measure({ apiserver, oldNode, counts: { kept } }) {
    const script = join(apiserver, 'subjects/apiserver/memory.mjs');
    const options = { timeout: 600_000 };
    const { stdout } = await promisify(execFile)(oldNode, ['--expose-gc', script, String(kept)], options);
    return { kept, row: rowOf([JSON.parse(stdout)]) };
  },
  describe({ kept, row }) {
    const lines = Object.entries(measured).map(([field, what]) => [what, Series.of(row, field).text()]);
    const [idle, peak] = [Series.of(row, 'idleMb').text(), Series.of(row, 'peakMb').text()];
    return {
      title: `Memory of ${number(kept)} Deployments in the embedded API server, in-process`,
      parts: [
        table(['', 'bytes per object'], lines),
        `Idle: ${idle} MB RSS; peak with all of them listed: ${peak} MB.`,
      ],
      charts: [],
      goals: [],
    };
  },
};
