// CPU of loadConfig() in a fresh process: a kubeconfig that Riata's own small parser reads, and one that needs the package
// `yaml`, which is loaded for it. The difference is what the small parser buys. Needs `npm run build`.
//   node bench/micro/kubeconfig.mjs [rounds]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const rounds = Number(process.argv[2] ?? 15);
const folder = mkdtempSync(join(tmpdir(), 'riata-kubeconfig-'));
const plain = `apiVersion: v1
kind: Config
current-context: a
clusters:
- name: a
  cluster:
    server: https://127.0.0.1:6443
users:
- name: a
  user:
    token: abc
contexts:
- name: a
  context:
    cluster: a
    user: a
`;
const files = { 'own parser': plain, yaml: plain.replace('token: abc', 'token: &t abc') };
const rest = new URL('../../packages/riata/dist/rest/index.js', import.meta.url).href;
const program = `
  const { loadConfig } = await import(${JSON.stringify(rest)});
  const before = process.cpuUsage();
  await loadConfig({ path: process.argv[1] });
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
`;

try {
  const samples = Object.fromEntries(Object.keys(files).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, 'config');
      writeFileSync(path, text);
      samples[name].push(Number(execFileSync(process.execPath, ['--input-type=module', '-e', program, path])));
    }
  }
  for (const [name, values] of Object.entries(samples)) {
    const sorted = values.sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
    console.log(`${name}: ${at(0.5)} ms of CPU (${at(0)}–${at(1)})`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
