import { defineKind } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { z } from 'zod';

/** A kind for tests. */
export const Widget = defineKind({
  group: 'testing.riata.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({ size: z.int() }),
});

/** Gives every Widget a ConfigMap and a status. */
export const widgets = control(Widget)
  .owns(ConfigMap)
  .reconcile(async ({ object: widget, apply, status }) => {
    const { size } = widget.spec;
    await apply(ConfigMap({ metadata: { name: widget.metadata.name }, data: { size: String(size) } }));
    await status({ size });
  });

export const widget = (name: string, size = 1) => Widget({ metadata: { namespace: 'default', name }, spec: { size } });

export const inDefault = (name: string) => ({ namespace: 'default', name });
