// @ts-check
import { ReflectionKind } from 'typedoc';

/**
 * The exported names that have no doc comment, as `module.name`. Generated kinds need none: their fields are Kubernetes'.
 *
 * @param {import('typedoc').ProjectReflection} project
 */
export function undocumentedNames(project) {
  return project
    .getReflectionsByKind(ReflectionKind.SomeModule)
    .flatMap((module) => /** @type {import('typedoc').DeclarationReflection} */ (module).children ?? [])
    .filter((name) => !name.kindOf([ReflectionKind.Reference, ReflectionKind.SomeModule]) && !isGenerated(name))
    .filter((name) => ![name, ...(name.signatures ?? [])].some((reflection) => reflection.hasComment()))
    .map((name) => name.getFriendlyFullName())
    .sort();
}

/** @param {import('typedoc').DeclarationReflection} name */
function isGenerated(name) {
  return /\/kinds\/generated\//.test(name.project.getSymbolIdFromReflection(name)?.fileName ?? '');
}
