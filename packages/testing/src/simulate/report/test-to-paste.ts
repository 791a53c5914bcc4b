import { describeChange } from '../run/field-change.js';
import type { RunResult } from '../run/run-result.js';
import { formatPlan } from '../run/simulated-fault.js';
import type { StoryStep } from '../run/story-line.js';
import { quoted, sourceLiteral } from './source-literal.js';

/** How far the story is indented. */
const depth = 6;
const width = 120;
const longestTitle = 100;

/** A test that makes exactly the failing run, with the story's writes spelled out. */
export function testToPaste({ steps, told, plan, change, advances }: RunResult, title: string): string {
  const { steps: most, ...replayed } = plan;
  const count = Math.min(told, most ?? told);
  const lines = steps.slice(0, count).map(stepCode);
  for (const { after, by } of [...advances].reverse()) lines.splice(after, 0, `await advance(${sourceLiteral(by)});`);
  const fields = plan.change?.fields.map(describeChange).join(', ');
  if (fields !== undefined)
    lines.push(`// Then ${change?.object ?? 'the object'} is changed, and that is undone: ${fields}`);
  return [
    `test(${quoted(title.length > longestTitle ? `${title.slice(0, longestTitle)}…` : title)}, () =>`,
    '  simulate({',
    '    ...options, // kinds and run of the failing test',
    `    story: async ({ client${advances.length > 0 ? ', advance' : ''} }) => {`,
    ...lines.map((line) => `${' '.repeat(depth)}${line}`),
    '    },',
    `    replay: ${quoted(formatPlan(replayed))},`,
    '  }));',
  ].join('\n');
}

const patchTypes: Readonly<Record<string, string>> = {
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
  'application/strategic-merge-patch+json': 'strategic',
};

function stepCode({ target, body, contentType, isForced, code = 200 }: StoryStep): string {
  const { verb, kind, namespace, name, subresource } = target;
  const client = subresource === undefined ? 'client' : clientOf(subresource);
  const key = { ...(namespace !== undefined && { namespace }), name };
  const sent = parsed(body);
  const called = (method: string, ...args: readonly object[]) => {
    const text = call(`${client}.${method}`, args);
    // The story continued after the refusal, so the pasted test must not fail here.
    return code >= 400 ? `${caught(text, client)} // refused with ${code}` : `await ${text};`;
  };
  const { apiVersion: _, kind: __, ...content } = sent ?? {};
  const options = Object.keys(content).length > 0 ? [content] : [];
  if (verb === 'delete') return called('delete', new KindSource(kind), key, ...options);
  if (verb === 'deletecollection')
    return called('deleteCollection', new KindSource(kind), {
      ...(namespace !== undefined && { namespace }),
      ...content,
    });
  if (sent === undefined) return `// ${verb} ${target.object}: ${body}`;
  if (verb === 'update') return called('update', withoutManagedFields(sent));
  if (verb === 'create' && subresource !== undefined) return called('create', new KindSource(kind), key, sent);
  if (verb === 'create') return called('create', new KindSource(kind, content));
  const type = patchTypes[contentType.split(';', 1)[0] ?? ''];
  if (type !== undefined) return called('patch', new KindSource(kind), key, { type, body: sent });
  return called('apply', new KindSource(kind, content), ...(isForced ? [{ force: true }] : []));
}

function clientOf(subresource: string): string {
  return subresource === 'status' ? 'client.status' : `client.subresource(${quoted(subresource)})`;
}

/** A kind in the source, or an object of it. */
class KindSource {
  readonly kind: string;
  readonly content: object | undefined;

  constructor(kind: string, content?: object) {
    this.kind = kind;
    this.content = content;
  }
}

function call(callee: string, args: readonly object[]): string {
  const texts = args.map((each) => argument(each, { indent: depth }));
  const line = `${callee}(${texts.join(', ')})`;
  if (depth + 'await ;'.length + line.length <= width && !line.includes('\n')) return line;
  const [previous, last] = [args.at(-2), args.at(-1)];
  // As formatters do: an object after something else starts on the line of the call.
  if (isObject(last) && !isObject(previous) && !texts.slice(0, -1).some((text) => text.includes('\n'))) {
    const open = `${callee}(${texts
      .slice(0, -1)
      .map((text) => `${text}, `)
      .join('')}`;
    return `${open}${sourceLiteral(last, { indent: depth, column: width })})`;
  }
  const inner = depth + 2;
  const lines = args.map((each) => `\n${' '.repeat(inner)}${argument(each, { indent: inner })},`);
  return `${callee}(${lines.join('')}\n${' '.repeat(depth)})`;
}

function caught(text: string, client: string): string {
  const line = `await ${text}.catch(() => {});`;
  if (text.includes('\n') || depth + line.length <= width) return line;
  const inner = `\n${' '.repeat(depth + 2)}`;
  return `await ${client}${inner}${text.slice(client.length)}${inner}.catch(() => {});`;
}

function isObject(value: object | undefined): value is object {
  return value !== undefined && !(value instanceof KindSource);
}

function argument(value: object, { indent }: { indent: number }): string {
  if (!(value instanceof KindSource)) return sourceLiteral(value, { indent });
  const { kind, content } = value;
  if (content === undefined) return kind;
  return `${kind}(${sourceLiteral(content, { indent, column: indent + kind.length + 1, after: 2 })})`;
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function withoutManagedFields(object: object): object {
  const { metadata, ...rest } = object as { readonly metadata?: Record<string, unknown> };
  const { managedFields: _, ...kept } = metadata ?? {};
  return { ...rest, metadata: kept };
}
