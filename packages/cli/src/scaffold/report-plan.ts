import type { CommandIo } from '../command/command-io.js';
import type { AddPlan } from './add-options.js';
import type { ProjectLayout } from './project-layout.js';

/** Writes the files of a plan, and reports them. */
export async function reportPlan(io: CommandIo, layout: ProjectLayout, plan: AddPlan, json = false): Promise<void> {
  const { writePlan } = await import('./file-plan.js');
  await writePlan(layout.folder, plan);
  const [created, changed] = [[...plan.created.keys()], [...(plan.changed?.keys() ?? [])]];
  if (json) return io.out(JSON.stringify({ created, changed, notes: plan.notes }));
  for (const path of created) io.out(`created ${path}`);
  for (const path of changed) io.out(`changed ${path}`);
  for (const note of plan.notes) io.note(note);
}
