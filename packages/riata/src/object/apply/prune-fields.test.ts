import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { VersionConverter } from './kind-versions.js';
import type { ManagedSet } from './managers.js';
import { pruneFields } from './prune-fields.js';
import { mergeTyped } from './typed/merge-typed.js';
import { toFieldSet } from './typed/to-field-set.js';
import { configSpec, liveSpec, widget, widgetType } from './widget.fixture.js';

const converter = new VersionConverter(() => undefined);

test('who applies all of it again leaves nothing behind', () => {
  fc.assert(
    fc.property(liveSpec, configSpec, configSpec, (live, config, before) => {
      const merged = mergeTyped(widget(live), widget(config), widgetType) as JsonObject;
      const fields = toFieldSet(widget(config), widgetType);
      const own = { manager: 'ann', applied: true, apiVersion: 'x.dev/v1', subresource: '', time: undefined, fields };
      const last: ManagedSet = { ...own, fields: fields.intersection(toFieldSet({ spec: before }, widgetType)) };
      const typed = { object: merged, type: widgetType };
      const pruned = pruneFields(typed, last, new Map([['ann', own]]), 'x.dev/v1', converter);
      expect(equal(pruned.object, merged)).toBe(true);
    }),
  );
});
