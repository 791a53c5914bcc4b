import { rolldown } from 'rolldown';
import { CommandError } from '../../command/command-error.js';

/**
 * The path of the module that a config's `run` imports. Found by resolving the imports of the config file, without running
 * it: `import('./src/main.js')` is `src/main.ts`.
 */
export async function findMainModule(configFile: string, conditions: readonly string[] = []): Promise<string> {
  const found = new Set<string>();
  const build = await rolldown({
    input: configFile,
    platform: 'node',
    resolve: {
      conditionNames: [...conditions, 'node', 'import', 'default'],
      extensionAlias: { '.js': ['.ts', '.tsx', '.js'], '.mjs': ['.mts', '.mjs'] },
    },
    plugins: [
      {
        name: 'riata:main-module',
        async resolveId(source, importer, { kind }) {
          if (importer === undefined) return null;
          if (kind === 'dynamic-import') {
            const main = await this.resolve(source, importer, { kind, skipSelf: true });
            if (main !== null && !main.external) found.add(main.id);
          }
          return { id: source, external: true };
        },
      },
    ],
    logLevel: 'silent',
  });
  try {
    await build.generate({ format: 'esm' });
  } finally {
    await build.close();
  }
  const [main] = found;
  if (main !== undefined && found.size === 1) return main;
  const problem = found.size === 0 ? 'imports no module of its own' : `imports ${found.size} modules`;
  throw new CommandError(
    `${configFile}: ${problem} by import(); an image needs exactly one, as in run: () => import('./src/main.js')`,
  );
}
