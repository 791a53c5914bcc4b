import type { GroupVersionKind, KubeObject } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import type { Resource, Subresource } from '../resource/resource.js';
import { type IncludeObject, isShowable, makeTable } from './make-table.js';
import { printerOf } from './printer-of.js';

/** The object or list to show, and how. */
export interface Shown {
  readonly resource: Resource;
  readonly subresource: Subresource | undefined;
  /** The requested kind of Table. */
  readonly as: GroupVersionKind;
  readonly includeObject: IncludeObject;
  readonly clock: Pick<Scheduler, 'now'>;
}

/** An answer as a Table; errors stay what they are. */
export function showAnswer(value: unknown, shown: Shown): unknown {
  return isShowable(value) ? makeTable(value, { ...formOf(shown), headers: true, nowMs: shown.clock.now() }) : value;
}

/** Makes Tables of the objects of one watch: the first one says which columns there are. */
export function rowShower(shown: Shown): (object: KubeObject) => unknown {
  const form = formOf(shown);
  let headers = true;
  return (object) => {
    const table = makeTable(object, { ...form, headers, nowMs: shown.clock.now() });
    headers = false;
    return table;
  };
}

function formOf({ resource, subresource, as, includeObject }: Shown) {
  const { group, version, kind } = subresource ?? resource;
  const item = { kind, apiVersion: group === '' ? version : `${group}/${version}` };
  return { printer: printerOf(resource, subresource), as, includeObject, item };
}
