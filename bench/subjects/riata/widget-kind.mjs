import { defineKind } from 'riata/object';

const spec = { type: 'object', properties: { size: { type: 'integer' }, at: { type: 'integer', format: 'int64' } } };
const status = { type: 'object', properties: { size: { type: 'integer' } } };

/** What the operators take care of. */
export const Widget = defineKind({ group: 'bench.riata.dev', version: 'v1', kind: 'Widget', spec, status });

/** The fifty kinds that an idle operator watches. */
export const idleKinds = () =>
  Array.from({ length: 50 }, (_, at) =>
    defineKind({ group: 'idle.riata.dev', version: 'v1', kind: `Idle${at}`, plural: `idle${at}s`, spec, status }),
  );
