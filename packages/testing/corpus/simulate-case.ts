import {
  fromSchema,
  type SimulateOptions,
  type SimulationError,
  type SimulationReport,
  simulate,
} from '@riata/testing';
import { App, type Cloud, type CorpusCase, usualStory } from './corpus-case.js';
import { corpus } from './index.js';

/** Simulates one of the two controllers of a case. */
export function simulateCase(
  { faulty, fixed, story = usualStory, isChanged = false }: CorpusCase,
  which: 'faulty' | 'fixed',
  options: Pick<SimulateOptions, 'runs' | 'seed' | 'pairs' | 'random' | 'changes' | 'maxReconciles' | 'replay'> = {},
): Promise<SimulationReport> {
  const define = which === 'faulty' ? faulty : fixed;
  return simulate<Cloud>({
    ...{ kinds: [App], world: () => ({}), run: ({ world }) => [define(world)].flat(), story },
    ...(isChanged && { changes: fromSchema(App) }),
    ...options,
  });
}

/** The table of the guide: each bug, what showed it, and after how many runs. */
export function tableOf(found: ReadonlyMap<string, SimulationError>): string {
  const rows = corpus.map(({ name, bug }) => {
    const { rule, replay, runs } = found.get(name) as SimulationError;
    return `| ${name} | ${bug} | ${rule} | \`${replay}\` | ${runs} |`;
  });
  return ['| bug | what goes wrong | violated rule | shortest run | runs |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}
