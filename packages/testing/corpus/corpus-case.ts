import type { SimulateOptions } from '@riata/testing';
import { defineKind, type KindOf } from 'riata';
import type { ControllerDefinition } from 'riata/controller';
import { z } from 'zod';

/** The kind that all controllers of the corpus are for. */
export const App = defineKind({
  group: 'corpus.riata.dev',
  version: 'v1',
  kind: 'App',
  spec: z.object({
    size: z.int().default(1),
    target: z.string().min(1).optional(),
    hosts: z.array(z.string().min(1)).optional(),
  }),
  status: z.object({ size: z.int(), child: z.string(), phase: z.string() }).partial(),
});

export interface App extends KindOf<typeof App> {}

/** What exists outside of the cluster, by name. */
export type Cloud = Record<string, string>;

type Controllers = ControllerDefinition | readonly ControllerDefinition[];

/** A bug that operators had, as a controller, and the same controller without it. */
export interface CorpusCase {
  readonly name: string;
  /** What goes wrong, in one sentence. */
  readonly bug: string;
  readonly faulty: (cloud: Cloud) => Controllers;
  readonly fixed: (cloud: Cloud) => Controllers;
  /** @default creates an App, changes its size and deletes it */
  readonly story?: SimulateOptions<Cloud>['story'];
  /** Whether changes of the spec are drawn from the schema. @default false */
  readonly isChanged?: boolean;
}

export const namespace = 'default';
export const appKey = (name = 'shop') => ({ namespace, name });
export const app = (name = 'shop', spec: { size?: number; target?: string; hosts?: string[] } = {}) =>
  App({ metadata: { namespace, name }, spec });

/** Creates an App, changes its size and deletes it. */
export const usualStory: NonNullable<CorpusCase['story']> = async ({ client }) => {
  await client.create(app());
  await client.patch(App, appKey(), { type: 'merge', body: { spec: { size: 2 } } });
  await client.delete(App, appKey());
};
