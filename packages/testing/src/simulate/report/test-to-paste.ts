import { formatPlan, type RunPlan } from '../run/simulated-fault.js';
import type { StoryStep } from '../run/story-line.js';

/** A test that makes exactly the failing run, with the story's writes spelled out. */
export function testToPaste(steps: readonly StoryStep[], plan: RunPlan, title: string): string {
  const lines = steps.slice(0, plan.steps).flatMap(stepCode);
  return [
    `test(${JSON.stringify(title)}, () =>`,
    '  simulate({',
    '    ...options, // kinds and run of the failing test',
    '    story: async ({ client }) => {',
    ...lines.map((line) => `      ${line}`),
    '    },',
    `    replay: '${formatPlan({ seed: plan.seed, faults: plan.faults })}',`,
    '  }));',
  ].join('\n');
}

const patchTypes: Readonly<Record<string, string>> = {
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
  'application/strategic-merge-patch+json': 'strategic',
};

function stepCode({ target, body, contentType }: StoryStep): readonly string[] {
  const { verb, kind, namespace, name, subresource } = target;
  const key = JSON.stringify({ ...(namespace !== undefined && { namespace }), name });
  if (subresource !== undefined) return [`// ${verb} ${target.object}: ${body}`];
  if (verb === 'create') return [`await client.create(${kind}(${body}));`];
  if (verb === 'update') return [`await client.update(${body});`];
  if (verb === 'delete') return [`await client.delete(${kind}, ${key});`];
  const type = patchTypes[contentType.split(';', 1)[0] ?? ''];
  if (verb === 'patch' && type !== undefined)
    return [`await client.patch(${kind}, ${key}, { type: '${type}', body: ${body} });`];
  return [`// ${verb} ${target.object}: ${body}`];
}
