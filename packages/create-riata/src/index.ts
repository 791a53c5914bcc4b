/**
 * Creates projects, and the parts of projects that the `riata` command adds: names, checks and templates.
 *
 * @module
 */

export type { CreateIo } from './create-io.js';
export { createRiata } from './create-riata.js';
export { type KindNames, kindNames, kindRefusal } from './kind-names.js';
export { groupProblem, kindProblem, projectNameProblem } from './name-problems.js';
export { type CiService, type ProjectOptions, projectFiles, type Template, templates } from './project-files.js';
export { type ProjectFiles, renderTemplate, type TemplateNames } from './render-template.js';
