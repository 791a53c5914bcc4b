import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildClientGo } from '../lib/informer-subjects.mjs';
import { isAskedFor, measure, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';

const DIRECTIONS = {
  download: 'exec, stdout',
  upload: 'exec, stdin',
  forward: 'port-forward, to the client',
};
const MB = 1024 * 1024;

/** Bytes through exec and port-forwards, over WebSockets. */
export const streams = {
  name: 'streams',
  needs: ['riata', 'apiserver', 'clientNode'],
  async measure({
    riata,
    apiserver,
    clientNode,
    node,
    folder,
    runs,
    log,
    subjects,
    counts: { streamMb, streamWarmUpMb },
  }) {
    const go = buildClientGo(log);
    const server = await startStreamServer(process.execPath, apiserver, folder);
    try {
      const sizes = [streamMb * MB, streamWarmUpMb * MB].map(String);
      const script = (home, name) => join(home, 'subjects', name, 'streams.mjs');
      const puller = [node, join(riata, 'subjects/pull.mjs')];
      const all = Object.keys(DIRECTIONS).flatMap((direction) => {
        const args = [server.kubeconfig, direction, ...sizes];
        return [
          [`${direction} riata`, () => measure(node, script(riata, 'riata'), ...args)],
          go && [`${direction} client-go`, () => measure(join(go, 'exec'), ...args, ...puller)],
          // It speaks another protocol for ports, which WebSocket servers before the tunnels did.
          direction !== 'forward' && [
            `${direction} client-node`,
            () => measure(node, script(clientNode, 'client-node'), ...args),
          ],
        ].filter(Boolean);
      });
      const asked = all.filter(([name]) => isAskedFor(subjects, name));
      const found = await rounds(Object.fromEntries(asked), runs);
      for (const [name, reports] of Object.entries(found)) {
        for (const figures of reports) {
          if (figures.bytes !== streamMb * MB)
            throw new Error(`${name}: ${figures.bytes} of ${streamMb * MB} bytes came`);
          figures.mbPerCpuSecond = (streamMb * 1000) / figures.cpuMs;
          figures.mbPerSecond = (streamMb * 1000) / figures.ms;
        }
      }
      return { streamMb, rows: rowsOf(found) };
    } finally {
      server.stop();
    }
  },
  describe({ streamMb, rows }) {
    const of = (direction) =>
      Object.fromEntries(
        Object.entries(rows)
          .filter(([name]) => name.startsWith(`${direction} `))
          .map(([name, row]) => [name.slice(direction.length + 1), row]),
      );
    const parts = Object.entries(DIRECTIONS).flatMap(([direction, title]) => {
      const own = of(direction);
      const lines = Object.entries(own).map(([name, row]) => [
        name,
        Series.of(row, 'mbPerCpuSecond').text(),
        Series.ratio(row, own['client-go'], 'mbPerCpuSecond').text(2),
        Series.of(row, 'mbPerSecond').text(),
      ]);
      return [`**${title}**`, table(['', 'MB per CPU s', '÷ client-go', 'MB/s'], lines)];
    });
    const beside = (direction, peer) => Series.ratio(of(direction).riata, of(direction)[peer], 'mbPerCpuSecond');
    return {
      title: `Streams: ${number(streamMb)} MB through exec and port-forward over HTTPS`,
      parts,
      charts: [
        {
          name: 'streams',
          title: `${number(streamMb)} MB through exec and port-forward`,
          panels: Object.entries(DIRECTIONS).map(([direction, title]) =>
            panel(`${title}: MB per CPU second`, of(direction), 'mbPerCpuSecond', { better: 'more' }),
          ),
        },
      ],
      goals: Object.entries(DIRECTIONS)
        .flatMap(([direction, title]) => [
          goal({
            what: `${title}, bytes per CPU second beside client-go`,
            ...{ got: beside(direction, 'client-go'), least: 0.7, unit: '×', digits: 2 },
          }),
          direction !== 'forward' &&
            goal({
              what: `${title}, bytes per CPU second beside client-node`,
              ...{ got: beside(direction, 'client-node'), least: 1, unit: '×', digits: 2 },
            }),
        ])
        .filter((made) => made && made.got !== '–'),
    };
  },
};

async function startStreamServer(node, home, folder) {
  const child = spawn(node, [join(home, 'subjects/stream-server.mjs'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server of the streams ended with ${code} before it listened`);
  });
  ended.catch(() => {});
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  return { kubeconfig: String(line).trim(), stop: () => child.kill('SIGKILL') };
}
