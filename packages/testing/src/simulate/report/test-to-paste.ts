import { describeChange } from '../run/field-change.js';
import type { RunResult } from '../run/run-result.js';
import { formatPlan } from '../run/simulated-fault.js';
import type { StoryStep } from '../run/story-line.js';

/** A test that makes exactly the failing run, with the story's writes spelled out. */
export function testToPaste({ steps, told, plan, change }: RunResult, title: string): string {
  const { steps: _, ...replayed } = plan;
  const lines = steps.slice(0, plan.change === undefined ? plan.steps : told).flatMap(stepCode);
  const fields = plan.change?.fields.map(describeChange).join(', ');
  if (fields !== undefined)
    lines.push(`// Then ${change?.object ?? 'the object'} is changed, and that is undone: ${fields}`);
  return [
    `test(${JSON.stringify(title)}, () =>`,
    '  simulate({',
    '    ...options, // kinds and run of the failing test',
    '    story: async ({ client }) => {',
    ...lines.map((line) => `      ${line}`),
    '    },',
    `    replay: '${formatPlan(replayed)}',`,
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
