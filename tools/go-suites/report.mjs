// @ts-check
import { readFile } from 'node:fs/promises';

/**
 * @typedef {{ State: string, LeafNodeType: string, LeafNodeText: string, ContainerHierarchyTexts: string[] | null,
 *   Failure?: { Message?: string, Location?: { FileName?: string, LineNumber?: number } } }} Spec
 * @typedef {{ title: string, message: string, place: string }} Failed
 */

/** What a report of Ginkgo says. @param {string} file @returns {Promise<{ passed: number, failed: Failed[] }>} */
export async function readReport(file) {
  /** @type {{ SpecReports: Spec[] }[]} */
  const suites = JSON.parse(await readFile(file, 'utf8'));
  const specs = suites.flatMap((suite) => suite.SpecReports ?? []).filter(({ State }) => !ignored.has(State));
  const failed = specs.filter(({ State }) => State !== 'passed').map(describe);
  return { passed: specs.filter((spec) => spec.State === 'passed' && spec.LeafNodeType === 'It').length, failed };
}

const ignored = new Set(['pending', 'skipped']);

/** @param {Spec} spec @returns {Failed} */
function describe({ ContainerHierarchyTexts, LeafNodeType, LeafNodeText, Failure = {} }) {
  const { FileName = '', LineNumber = 0 } = Failure.Location ?? {};
  return {
    title: [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(' / '),
    message: (Failure.Message ?? '').split('\n').slice(0, 3).join(' ').slice(0, 300),
    place: `${FileName.split('/').slice(-2).join('/')}:${LineNumber}`,
  };
}
