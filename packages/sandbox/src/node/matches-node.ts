import type { Node, NodeSelector, NodeSelectorTerm } from 'riata/kinds';

type Requirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

/** Whether a NodeSelector matches a node: one of its terms must match, and an empty term never does. */
export function matchesNode(selector: NodeSelector | undefined, { metadata }: Node): boolean {
  if (selector === undefined) return true;
  return selector.nodeSelectorTerms.some(({ matchExpressions = [], matchFields = [] }) => {
    if (matchExpressions.length + matchFields.length === 0) return false;
    const labels = metadata.labels ?? {};
    return (
      matchExpressions.every((requirement) => holds(requirement, labels)) &&
      matchFields.every((requirement) => holds(requirement, { 'metadata.name': metadata.name }))
    );
  });
}

function holds({ key, operator, values = [] }: Requirement, of: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(of, key) ? of[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return compares(operator, value, values[0]);
  }
}

/** `Gt` and `Lt`, of whole numbers only. */
function compares(operator: string, value: string | undefined, than: string | undefined): boolean {
  const [a, b] = [value, than].map((text) => (/^[+-]?\d+$/.test(text ?? '') ? BigInt(text as string) : undefined));
  if (a === undefined || b === undefined) return false;
  return operator === 'Gt' ? a > b : a < b;
}
