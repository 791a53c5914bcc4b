import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const bench = new URL('../', import.meta.url);
const read = (path) => readFileSync(new URL(path, bench), 'utf8');

/** What a go.mod requires: `module v1.2.3`. */
export const goVersion = (text, module) =>
  new RegExp(`^(?:require )?\\s*${module.replaceAll('.', '\\.')} v(\\S+)`, 'm').exec(text)?.[1];

/** What a Cargo.lock pins. */
export const cargoVersion = (text, name) => new RegExp(`name = "${name}"\\nversion = "([^"]+)"`).exec(text)?.[1];

function said(command, args, pattern) {
  try {
    return pattern.exec(execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))?.[1];
  } catch {
    return undefined; // not here
  }
}

/** `0.1.0 (1a2b3c4)`: the version of the package and of the repository, with a mark if files differ from it. */
function riataVersion() {
  const { version } = JSON.parse(read('../packages/riata/package.json'));
  const cwd = fileURLToPath(new URL('../packages', bench));
  const commit = said('git', ['-C', cwd, 'describe', '--always', '--exclude=*'], /(\S+)/);
  const changed = said('git', ['-C', cwd, 'status', '--porcelain', '.'], /^(\s*\S+ )/m);
  return commit ? `${version} (${commit}${changed ? ' and changes' : ''})` : version;
}

/** Versions of riata and of everything that it is measured beside, with what runs it. */
export function versions({ node, oldNode }) {
  const goMod = (name) => read(`subjects/${name}/go.mod`);
  const planes = read('../tools/control-plane/go.mod');
  const cargo = read('subjects/kube-rs/Cargo.lock');
  return {
    riata: riataVersion(),
    Node: said(node, ['--version'], /v(\S+)/),
    'Node 20': said(oldNode, ['--version'], /v(\S+)/),
    '@kubernetes/client-node': JSON.parse(read('subjects/client-node/package.json')).dependencies[
      '@kubernetes/client-node'
    ],
    'client-go': goVersion(goMod('client-go'), 'k8s.io/client-go'),
    'controller-runtime': goVersion(goMod('controller-runtime'), 'sigs.k8s.io/controller-runtime'),
    'kube-rs': cargoVersion(cargo, 'kube'),
    wrangler: goVersion(goMod('wrangler'), 'github.com/rancher/wrangler/v3'),
    'kube-apiserver and kubectl': goVersion(planes, 'k8s.io/kubernetes'),
    etcd: goVersion(planes, 'go.etcd.io/etcd/server/v3'),
    Go: said('go', ['version'], /go(\d\S+)/),
    Rust: said('rustc', ['--version'], /rustc (\S+)/),
  };
}

/** `2 vCPU (AMD EPYC), 24 GB, linux`. */
export function machine() {
  const [{ model }] = cpus();
  return `${cpus().length} vCPU (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}`;
}
