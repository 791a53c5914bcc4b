import type { KubeObject } from 'riata/object';
import { beforeAll, expect, test } from 'vitest';
import { loadWriteParts } from '../load-write-parts.js';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { builtInSchema } from '../schema/built-in/built-in-schema.js';
import { decodeTyped } from '../schema/built-in/decode-typed.js';
import type { SchemaNode } from '../schema/built-in/schema-node.js';
import { canBeShown } from './can-be-shown.js';
import { printerOf } from './printer-of.js';
import { agesAt } from './table-printer.js';

// Versions are converted by what writing needs, too.
beforeAll(() => loadWriteParts());

const ages = agesAt(Date.parse('2026-01-01T00:01:00Z'));
const shown = builtInResources().filter((resource) => canBeShown(resource, undefined));

test.each(shown.map((resource) => [resource.table, resource] as const))(
  '%s: the emptiest object has a cell for each column',
  (table, resource) => {
    const metadata = { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' };
    const schema = builtInSchema(resource) as SchemaNode;
    const object = decodeTyped({ apiVersion: resource.apiVersion, kind: resource.kind, metadata }, schema);
    const { columns, cells } = printerOf(resource, undefined);
    const row = cells(object as unknown as KubeObject, ages);
    // The real server gives addresses an age, and no column for it.
    expect(row).toHaveLength(columns.length + (table === 'networking.k8s.io/ipaddresses' ? 1 : 0));
    expect(row).not.toContain(undefined);
    if (columns.some(({ name }) => name === 'Age')) expect(row).toContain('60s');
  },
);
