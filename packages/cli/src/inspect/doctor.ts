import { resolve } from 'node:path';
import { createClient } from 'riata';
import { silentLogger } from 'riata/runtime';
import { type ClusterOptions, clusterConfig } from '../command/cluster-options.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { hasConfig } from '../config/has-config.js';
import { loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import type { Finding } from './doctor/finding.js';
import { type CheckResult, runChecks } from './doctor/run-checks.js';
import { type Paint, painter } from './view/text.js';

/** Options of {@link doctor}. */
export interface DoctorOptions extends ProjectOptions, ClusterOptions {
  readonly json?: boolean;
}

/** Checks a cluster and the operator in it, and prints what is wrong and what to do. */
export async function doctor(io: CommandIo, options: DoctorOptions): Promise<void> {
  const operator = await operatorIn(io, options);
  const config = await clusterConfig(io, options);
  await using client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
  const { signal } = io;
  const results: CheckResult[] = [];
  const paint = painter(io.colors);
  for await (const result of runChecks({ client, config, operator, clock: io.runtime.clock, signal })) {
    results.push(result);
    if (!options.json) for (const line of resultLines(result, paint)) io.out(line);
  }
  const count = (level: Finding['level']) =>
    results.flatMap(({ findings }) => findings).filter((each) => each.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (options.json)
    io.out(JSON.stringify({ operator: operator?.name, problems, warnings, checks: results }, undefined, 2));
  else {
    if (operator === undefined) io.note('no riata.config.ts here: only the cluster was checked');
    io.out(`\n${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`);
  }
  if (problems > 0) throw new CommandError('', { exitCode: exitCodes.found });
}

/** The project's operator; undefined where there is no project. */
async function operatorIn(io: CommandIo, options: DoctorOptions): Promise<Operator | undefined> {
  if (options.config === undefined && !hasConfig(resolve(io.cwd))) return undefined;
  return (await loadOperator(io, options)).operator;
}

const marks = { ok: ['green', '✓'], warning: ['yellow', '!'], problem: ['red', '✗'] } as const;

function resultLines({ check, findings }: CheckResult, paint: Paint): string[] {
  return [
    paint('bold', check),
    ...findings.flatMap(({ level, text, remedy }) => {
      const [color, mark] = marks[level];
      return [`  ${paint(color, mark)} ${text}`, ...(remedy === undefined ? [] : [paint('gray', `    → ${remedy}`)])];
    }),
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
