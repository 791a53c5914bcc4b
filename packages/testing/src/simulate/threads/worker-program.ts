/**
 * What a worker thread runs. It imports the module of the simulation as Node does; TypeScript that this Node can't import is
 * loaded by Vite, which every project with Vitest has. It is a text, as packages are bundled and tests run from source: a
 * file of its own would be somewhere else each time.
 */
export const workerProgram = `
const { createRequire } = require('node:module');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { parentPort, workerData } = require('node:worker_threads');

const { module: address, name } = workerData;
const path = fileURLToPath(address);

async function load() {
  try {
    return await import(address);
  } catch (error) {
    const isTypeScript = /\\.[cm]?tsx?$/.test(path);
    if (!isTypeScript || !['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_MODULE_NOT_FOUND', 'ERR_UNSUPPORTED_DIR_IMPORT'].includes(error.code)) throw error;
    let vite;
    try {
      vite = await import(pathToFileURL(createRequire(address).resolve('vite')).href);
    } catch {
      throw new Error('simulate: worker threads can not import ' + path + ' on Node ' + process.versions.node + '; compile it to JavaScript, or install vite', { cause: error });
    }
    return loadWithVite(vite);
  }
}

async function loadWithVite(vite) {
  const given = process.execArgv.flatMap((argument, at, all) =>
    argument.startsWith('--conditions=') ? [argument.slice(13)] : argument === '--conditions' || argument === '-C' ? [all[at + 1]] : []);
  const conditions = [...given, 'node', 'import', 'module', 'default'];
  const target = 'node' + process.versions.node.split('.')[0];
  const server = await vite.createServer({
    configFile: false,
    logLevel: 'silent',
    appType: 'custom',
    [Number(vite.version.split('.')[0]) >= 8 ? 'oxc' : 'esbuild']: { target },
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
  });
  return server.ssrLoadModule(path);
}

load()
  .then((exported) => {
    const source = exported[name]?.[Symbol.for('riata.simulation')];
    if (source === undefined) throw new Error('simulate: ' + path + ' does not export a simulation as "' + name + '"; export the value of defineSimulation by this name');
    return source.serve(parentPort);
  })
  .catch((error) => parentPort.postMessage({ type: 'failed', error }));
`;
