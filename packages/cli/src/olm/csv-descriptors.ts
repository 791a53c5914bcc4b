import type { StructuralSchema } from 'riata/object';
import { partSchema } from './schema-example.js';

/** How a console shows a field of a kind (`SpecDescriptor`, `StatusDescriptor`). */
export interface Descriptor {
  readonly path: string;
  readonly displayName: string;
  readonly description?: string;
  readonly 'x-descriptors'?: readonly string[];
}

const ui = 'urn:alm:descriptor:com.tectonic.ui:';

/** Descriptors of the fields of `spec` or `status`, groups taken apart. */
export function descriptorsOf(schema: StructuralSchema, part: 'spec' | 'status'): Descriptor[] {
  const found = partSchema(schema, part);
  return found === undefined ? [] : fieldsOf(found, '', part);
}

function fieldsOf(schema: StructuralSchema, prefix: string, part: 'spec' | 'status'): Descriptor[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const path = `${prefix}${name}`;
    if (child.type === 'object' && child.properties !== undefined) return fieldsOf(child, `${path}.`, part);
    const shown = part === 'spec' ? specDescriptor(name, child) : statusDescriptor(name, child);
    return [
      {
        ...{ path, displayName: words(name) },
        ...(child.description !== undefined && { description: child.description }),
        ...(shown !== undefined && { 'x-descriptors': [shown] }),
      },
    ];
  });
}

function specDescriptor(name: string, { type }: StructuralSchema): string | undefined {
  if (name === 'replicas' && type === 'integer') return `${ui}podCount`;
  if (type === 'boolean') return `${ui}booleanSwitch`;
  if (type === 'integer' || type === 'number') return `${ui}number`;
  return type === 'string' ? `${ui}text` : undefined;
}

function statusDescriptor(name: string, { type }: StructuralSchema): string | undefined {
  if (name === 'conditions') return 'urn:alm:descriptor:io.kubernetes.conditions';
  return type === 'string' || type === 'integer' ? 'urn:alm:descriptor:text' : undefined;
}

/** `availableReplicas` → `Available Replicas`, `site-operator` → `Site Operator`. */
export function words(name: string): string {
  return name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .split(/[\s_-]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join(' ');
}
