import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'fflate';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { type GeneratedFile, marked } from '../command/generated-files.js';
import { reportFiles } from '../command/report-files.js';
import { type LoadedConfig, loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { tarOf } from '../image/oci/tar.js';
import { type ChartConfig, isChart } from './chart.js';
import type { ChartCommandOptions } from './chart-command.js';
import { chartFiles } from './chart-files.js';
import { defaultChart } from './default-chart.js';

const command = 'chart';

/** The work of `riata chart`. */
export async function writeChart(io: CommandIo, options: ChartCommandOptions): Promise<void> {
  const { output, package: archive, check, force, json } = options;
  if (archive !== undefined && (output !== undefined || check)) {
    throw new CommandError('--package writes one file; omit --output and --check', { exitCode: exitCodes.usage });
  }
  const loaded = await loadOperator(io, options);
  const { chart, files } = await chartOfProject(loaded);
  if (archive !== undefined) {
    const path = resolve(io.cwd, archive);
    await writeFile(path, packed(chart.name ?? loaded.operator.name, files));
    if (json) io.out(JSON.stringify({ package: path }));
    else io.note(`wrote ${relative(io.cwd, path)}`);
    return;
  }
  const folder = output === undefined ? join(loaded.folder, 'chart') : resolve(io.cwd, output);
  await reportFiles(io, files, { command, folder, check, force, json });
}

/** The chart that a config exports, or the default one, and its files. */
export async function chartOfProject({
  exports,
  config,
  operator,
}: LoadedConfig & { readonly operator: Operator }): Promise<{
  readonly chart: ChartConfig;
  readonly files: GeneratedFile[];
}> {
  const charts = Object.entries(exports).filter(([, value]) => isChart(value)) as [string, ChartConfig][];
  if (charts.length > 1) {
    const names = charts.map(([name]) => name).join(', ');
    throw new CommandError(`riata.config.ts exports several charts, ${names}; keep one`);
  }
  try {
    const chart = charts[0]?.[1] ?? (await defaultChart(config, operator));
    return { chart, files: await chartFiles(chart, operator) };
  } catch (error) {
    if (!(error instanceof TypeError) || !error.message.startsWith('chart')) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}

/** A chart as `helm package` writes it: the same files give the same bytes. */
function packed(name: string, files: readonly GeneratedFile[]): Uint8Array {
  const entries = files.map((file) => ({
    ...{ path: `${name}/${file.path}`, content: new TextEncoder().encode(marked(file, command)) },
  }));
  return gzipSync(tarOf(entries), { mtime: 0, level: 9 });
}
