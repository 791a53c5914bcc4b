import { type DefaultsTable, prefixed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { checkPodTemplate } from './checks/pod-template-checks.js';
import { podSpecDefaults } from './pod-defaults.js';

/** The defaults of a Pod template, by its path. */
export const templateDefaults = (path: string): DefaultsTable => prefixed(`${path}.spec`, podSpecDefaults);

export const podTemplateRules: KindRules = {
  defaults: templateDefaults('template'),
  validate: ({ template }) => checkPodTemplate(template, 'template'),
};
